/// The prefix index on the published Mooncake trace.
#include <zlib.h>

#include <charconv>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "dispatch/prefix_index.h"

namespace ace {
namespace {

std::string inflate_file(const std::string& path) {
  std::string text;
  gzFile file = gzopen(path.c_str(), "rb");
  if (file == nullptr) return text;
  char buffer[1 << 16];
  for (int n = 0; (n = gzread(file, buffer, sizeof buffer)) > 0;) text.append(buffer, static_cast<std::size_t>(n));
  gzclose(file);
  return text;
}

TEST(PrefixIndexData, an_unbounded_cache_hits_what_mooncake_says_it_does) {
  const std::string text = inflate_file(ACE_DATA "/mooncake/conversation_trace.jsonl.gz");
  ASSERT_FALSE(text.empty());
  PrefixIndex index(PrefixIndex::Rules{Tokens{1}, Tokens{0}, Tokens{1}, Duration{0}, std::size_t{1} << 20});
  std::int64_t references = 0, hits = 0, requests = 0, whole = 0;
  std::vector<std::uint32_t> blocks;
  for (std::size_t at = 0; (at = text.find("\"hash_ids\": [", at)) != std::string::npos;) {
    at += 13;
    blocks.clear();
    while (text[at] != ']') {
      std::uint32_t id = 0;
      at = static_cast<std::size_t>(std::from_chars(&text[at], text.data() + text.size(), id).ptr - text.data());
      blocks.push_back(id);
      while (text[at] == ',' || text[at] == ' ') ++at;
    }
    const std::int64_t hit = index.matched(blocks, Tokens{1 << 30}, instant(requests)).value;
    index.insert(blocks, instant(requests));
    ++requests;
    references += static_cast<std::int64_t>(blocks.size());
    hits += hit;
    whole += hit == static_cast<std::int64_t>(blocks.size());
  }
  EXPECT_EQ(requests, 12031);
  EXPECT_EQ(references, 288500);
  EXPECT_EQ(hits, 105710);
  EXPECT_EQ(whole, 118);
  EXPECT_EQ(index.size(), 182790u);
}

}  // namespace
}  // namespace ace
