#include "trace/binary.h"

#include <gtest/gtest.h>

#include "core/testing.h"
#include "fleet/fleet.h"
#include "trace/generate.h"
#include "trace/generate_testing.h"
#include "trace/parts.h"
#include "trace/trace.h"
#include "trace/write_text.h"

namespace ace {
namespace {

using fixture::Kept;

std::string same(std::string_view name) { return std::string(name); }

ReadOptions unmasked() {
  ReadOptions options;
  options.masks = {.model = same, .tenant = same, .team = same, .project = same, .identity = same, .provider = same};
  return options;
}

/// Rows in memory, with every field set in some of them.
class Listed final : public RequestSource {
 public:
  explicit Listed(Rng& rng) {
    Instant at = instant(0);
    for (int i = 0; i < 3; ++i) {
      models_("model-" + std::to_string(i));
      tenants_(i == 0 ? "" : "tenant-" + std::to_string(i));
      teams_("team-" + std::to_string(i));
      projects_(i == 0 ? "" : "project-" + std::to_string(i));
      keys_(i == 0 ? "" : "key-" + std::to_string(i));
    }
    const auto some = [&rng](std::int64_t unsaid) { return rng.chance(0.3) ? rng.between(0, 1'000'000) : unsaid; };
    for (std::uint64_t i = 0, n = rng.below(300); i < n; ++i) {
      Kept& row = rows_.emplace_back();
      row.a.at = at += Duration{rng.between(0, 1'000'000'000)};
      row.a.row = rng.chance(0.9) ? static_cast<std::int64_t>(i) + 1 : rng.between(1, 1'000'000);
      row.a.model = static_cast<std::uint32_t>(rng.below(3));
      row.a.tenant = static_cast<std::uint32_t>(rng.below(3));
      row.a.team = static_cast<std::uint32_t>(rng.below(3));
      row.a.project = rng.chance(0.3) ? static_cast<std::uint32_t>(rng.below(3)) : 0;
      row.a.key = rng.chance(0.3) ? static_cast<std::uint32_t>(rng.below(3)) : 0;
      row.a.prompt = static_cast<std::int32_t>(some(7));
      row.a.output = static_cast<std::int32_t>(some(0));
      row.a.reasoning = static_cast<std::int32_t>(some(0));
      row.a.cached = static_cast<std::int32_t>(some(-1));
      row.a.cache_write = static_cast<std::int32_t>(some(0));
      row.a.reasoning = std::min(row.a.reasoning, row.a.output);  // parts are not more than their whole
      row.a.cached = std::min(row.a.cached, row.a.prompt);
      row.a.cache_write = std::min(row.a.cache_write, row.a.prompt - std::max(row.a.cached, 0));
      std::int32_t prompt = row.a.prompt - std::max(row.a.cached, 0) - row.a.cache_write;
      std::int32_t output = row.a.output - row.a.reasoning;
      const auto part = [&](std::int32_t whole) {
        return rng.chance(0.2) ? static_cast<std::int32_t>(rng.between(0, whole)) : 0;
      };
      row.a.cache_write_1h = part(row.a.cache_write);
      prompt -= row.a.audio_prompt = part(prompt);
      row.a.image_prompt = part(prompt);
      output -= row.a.audio_output = part(output);
      row.a.image_output = part(output);
      row.a.max_output = static_cast<std::int32_t>(some(0));
      row.a.needs = static_cast<std::uint32_t>(rng.below(4));
      if (row.a.audio_prompt > 0 || row.a.audio_output > 0) row.a.needs |= kAudio;
      if (row.a.image_prompt > 0 || row.a.image_output > 0) row.a.needs |= kImage;
      row.a.cache_hit = rng.chance(0.2);
      row.a.batch = rng.chance(0.2);
      row.a.failed = rng.chance(0.2);
      row.a.cost_nano = some(-1);
      row.a.ttft_us = some(-1);
      row.a.duration_us = some(-1);
      if (rng.chance(0.5))
        for (std::uint64_t b = 0; b < rng.below(20); ++b) row.blocks.push_back(static_cast<std::uint32_t>(rng.next()));
    }
  }
  Result<std::size_t> next(std::span<Arrival> batch) override {
    std::size_t n = 0;
    for (; n < batch.size() && at_ < rows_.size(); ++n, ++at_) {
      batch[n] = rows_[at_].a;
      batch[n].blocks = rows_[at_].blocks;
    }
    return n;
  }
  Result<void> rewind() override { return at_ = 0, Result<void>{}; }
  [[nodiscard]] const Interner& models() const override { return models_; }
  [[nodiscard]] const Interner& tenants() const override { return tenants_; }
  [[nodiscard]] const Interner& teams() const override { return teams_; }
  [[nodiscard]] const Interner& projects() const override { return projects_; }
  [[nodiscard]] const Interner& keys() const override { return keys_; }
  [[nodiscard]] Tokens block_tokens() const override { return Tokens{256}; }
  [[nodiscard]] std::string format() const override { return "a list"; }
  [[nodiscard]] const std::vector<Kept>& rows() const { return rows_; }

 private:
  std::vector<Kept> rows_;
  std::size_t at_ = 0;
  Interner models_, tenants_, teams_, projects_, keys_;
};

std::string bytes_from(RequestSource& source) {
  std::string bytes;
  const auto rows = write_binary(source, [&](std::string_view piece) { return bytes += piece, Result<void>{}; });
  EXPECT_TRUE(rows);
  return bytes;
}

Result<std::unique_ptr<RequestSource>> opened(std::string bytes, std::size_t piece = ~std::size_t{0}) {
  return open_binary(Window(bytes_of(std::move(bytes), piece), 1 << 20), unmasked());
}

TEST(BinaryTrace, gives_back_every_field_of_every_row) {
  for_each_seed(100, [](Rng& rng) {
    Listed listed(rng);
    auto back = opened(bytes_from(listed), 1 + rng.below(5000));
    ASSERT_TRUE(back) << back.error().what();
    EXPECT_EQ((*back)->block_tokens(), Tokens{256});
    EXPECT_EQ((*back)->format(), "a list");
    for (int pass = 0; pass < 2; ++pass) {
      const auto rows = fixture::all_of(**back, 1 + rng.below(100));
      ASSERT_EQ(rows.size(), listed.rows().size());
      for (std::size_t i = 0; i < rows.size(); ++i) {
        const Arrival &a = rows[i].a, &b = listed.rows()[i].a;
        EXPECT_EQ(a.at, b.at);
        EXPECT_EQ(a.row, b.row);
        EXPECT_EQ((*back)->models()[a.model], listed.models()[b.model]);
        EXPECT_EQ((*back)->tenants()[a.tenant], listed.tenants()[b.tenant]);
        EXPECT_EQ((*back)->teams()[a.team], listed.teams()[b.team]);
        EXPECT_EQ((*back)->projects()[a.project], listed.projects()[b.project]);
        EXPECT_EQ((*back)->keys()[a.key], listed.keys()[b.key]);
        EXPECT_EQ(std::tuple(a.prompt, a.output, a.reasoning, a.cached, a.cache_write, a.max_output),
                  std::tuple(b.prompt, b.output, b.reasoning, b.cached, b.cache_write, b.max_output));
        EXPECT_EQ(std::tuple(a.needs, a.batch, a.failed, a.cache_hit, a.cost_nano, a.ttft_us, a.duration_us),
                  std::tuple(b.needs, b.batch, b.failed, b.cache_hit, b.cost_nano, b.ttft_us, b.duration_us));
        for (const Part& rare : kRareParts) EXPECT_EQ(a.*rare.member, b.*rare.member) << rare.name;
        EXPECT_EQ(rows[i].blocks, listed.rows()[i].blocks);
      }
      ASSERT_TRUE((*back)->rewind());
    }
  });
}

/// What reading these bytes to the end says.
Result<void> read_out(const std::string& bytes) {
  auto source = opened(bytes);
  if (!source) return source.error();
  std::vector<Arrival> batch(100);
  while (true) {
    const auto n = (*source)->next(batch);
    if (!n) return n.error();
    if (*n == 0) return {};
  }
}

TEST(BinaryTrace, notices_a_cut_anywhere) {
  Rng rng(4, "binary");
  Listed listed(rng);
  const std::string bytes = bytes_from(listed);
  ASSERT_TRUE(read_out(bytes));
  for (std::size_t length = 0; length < bytes.size(); length += 1 + length / 50) {
    const auto read = read_out(bytes.substr(0, length));
    ASSERT_FALSE(read) << length;
    EXPECT_EQ(read.error().code(), Errc::truncated) << length;
  }
  EXPECT_EQ(read_out(bytes + "x").error().code(), Errc::corrupt);
}

TEST(BinaryTrace, notices_every_changed_bit) {
  for_each_seed(300, [](Rng& rng) {
    Listed listed(rng);
    std::string bytes = bytes_from(listed);
    const std::size_t at = rng.below(bytes.size());
    bytes[at] = static_cast<char>(bytes[at] ^ (1 << rng.below(8)));
    EXPECT_FALSE(read_out(bytes)) << "byte " << at << " of " << bytes.size();
  });
}

TEST(BinaryTrace, masks_names_unless_told_otherwise) {
  Rng rng(9, "binary");
  Listed listed(rng);
  auto source = open_binary(Window(bytes_of(bytes_from(listed)), 1 << 20), ReadOptions{});
  ASSERT_TRUE(source);
  ASSERT_FALSE(fixture::all_of(**source).empty());
  for (std::uint32_t i = 0; i < (*source)->tenants().size(); ++i)
    EXPECT_EQ((*source)->tenants()[i].find("tenant"), std::string::npos);
}

TEST(WriteText, is_read_back_by_the_generic_reader) {
  for_each_seed(30, [](Rng& rng) {
    Listed listed(rng);
    std::string csv;
    ASSERT_TRUE(write_csv(listed, [&](std::string_view piece) { return csv += piece, Result<void>{}; }));
    auto back = read_trace(bytes_of(csv), "memory", unmasked());
    ASSERT_TRUE(back) << back.error().what();
    Arrival first;
    const auto n = (*back)->next({&first, 1});
    ASSERT_TRUE(n) << n.error().what();
    ASSERT_TRUE((*back)->rewind());
    const auto rows = fixture::all_of(**back);
    ASSERT_EQ(rows.size(), listed.rows().size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const Arrival &a = rows[i].a, &b = listed.rows()[i].a;
      EXPECT_EQ(a.at, b.at);
      EXPECT_EQ(std::tuple(a.prompt, a.output, a.max_output, a.batch, a.cost_nano, a.ttft_us, rows[i].blocks),
                std::tuple(b.prompt, b.output, b.max_output, b.batch, b.cost_nano, b.ttft_us, listed.rows()[i].blocks));
    }
  });
}

TEST(WriteText, states_what_is_stated_and_disarms_formulas) {
  Profile profile = fixture::small();
  profile.tenants[0].name = "=cmd|'x',1";
  profile.tenants[0].model = "a\"b";
  GenerateOptions options;
  options.limit = 1;
  auto source = generate(profile, options);
  ASSERT_TRUE(source);
  std::string csv;
  TextColumns columns{.team = false,
                      .owners = false,
                      .usage = false,
                      .parts = false,
                      .limit = true,
                      .outcome = false,
                      .batch = false,
                      .blocks = false};
  ASSERT_TRUE(write_csv(
      **source, [&](std::string_view piece) { return csv += piece, Result<void>{}; }, columns));
  EXPECT_EQ(csv.substr(0, csv.find('\n')), "at,model,tenant,prompt,output,max_output");
  EXPECT_NE(csv.find(",\"a\"\"b\",\"'=cmd|'x',1\","), std::string::npos) << csv;
  ASSERT_TRUE((*source)->rewind());
  std::string json;
  ASSERT_TRUE(write_jsonl(**source, [&](std::string_view piece) { return json += piece, Result<void>{}; }));
  EXPECT_NE(json.find(R"("model":"a\"b","tenant":"=cmd|'x',1","prompt":)"), std::string::npos) << json;
}

}  // namespace
}  // namespace ace
