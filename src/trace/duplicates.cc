#include "trace/duplicates.h"

#include "core/hash.h"

namespace ace {
namespace {

std::uint64_t filter_digest(std::uint64_t high, std::uint64_t low, std::uint64_t content) {
  const std::uint64_t digest = mix(mix(high, low), content);
  return digest == 0 ? 1 : digest;
}

}  // namespace

Duplicates::Seen* Duplicates::slot_of(std::vector<Seen>& table, std::uint64_t high, std::uint64_t low) {
  if (table.empty()) return nullptr;
  const std::size_t mask = table.size() - 1;
  for (std::size_t i = low & mask;; i = (i + 1) & mask) {
    if (table[i].line == 0 || (table[i].high == high && table[i].low == low)) return &table[i];
  }
}

void Duplicates::grow() {
  std::vector<Seen> larger(young_.empty() ? 1024 : 2 * young_.size());
  for (const Seen& seen : young_) {
    if (seen.line != 0) *slot_of(larger, seen.high, seen.low) = seen;
  }
  young_.swap(larger);
}

bool Duplicates::in_filter(std::uint64_t digest) const {
  for (const auto* filter : {&filter_young_, &filter_old_}) {
    if (filter->empty()) continue;
    const std::size_t mask = filter->size() - 1;
    for (std::size_t i = digest & mask; (*filter)[i] != 0; i = (i + 1) & mask) {
      if ((*filter)[i] == digest) return true;
    }
  }
  return false;
}

void Duplicates::remember_digests(const std::vector<Seen>& old) {
  for (const Seen& seen : old) {
    if (seen.line == 0) continue;
    filtered_ = true;
    if (filter_count_ == kFilter / 2) {
      forgot_ = forgot_ || !filter_old_.empty();
      filter_old_.swap(filter_young_);
      filter_young_.clear();
      filter_count_ = 0;
    }
    if (filter_young_.empty()) filter_young_.assign(kFilter, 0);
    const std::uint64_t digest = filter_digest(seen.high, seen.low, seen.content);
    std::size_t i = digest & (kFilter - 1);
    while (filter_young_[i] != 0) i = (i + 1) & (kFilter - 1);
    filter_young_[i] = digest;
    ++filter_count_;
  }
}

Duplicates::Answer Duplicates::see(std::string_view id, std::string_view content, std::int64_t line) {
  const std::uint64_t low = hash_of(id);
  std::uint64_t high = 0x243f'6a88'85a3'08d3ULL;  // a second, independent pass over the bytes
  for (const char c : id) high = mix(high, static_cast<unsigned char>(c));
  const std::uint64_t digest = hash_of(content);
  for (auto* table : {&young_, &old_}) {
    const Seen* seen = slot_of(*table, high, low);
    if (seen == nullptr || seen->line == 0) continue;
    if (seen->content != digest) return {Verdict::conflict, seen->line};
    ++dropped_;
    return {Verdict::duplicate, seen->line};
  }
  if (filtered_ && in_filter(filter_digest(high, low, digest))) {
    ++dropped_;
    return {Verdict::duplicate, 0};
  }
  if (young_count_ == kExact / 2) {
    remember_digests(old_);
    old_.swap(young_);
    young_.clear();
    young_count_ = 0;
  }
  if (2 * (young_count_ + 1) > young_.size()) grow();
  *slot_of(young_, high, low) = {high, low, digest, line};
  ++young_count_;
  return {};
}

}  // namespace ace
