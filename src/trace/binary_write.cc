#include <algorithm>
#include <map>
#include <vector>

#include "trace/binary.h"
#include "trace/binary_frame.h"
#include "trace/parts.h"

namespace ace {
namespace {

using namespace binary;

class Writer {
 public:
  Writer(RequestSource& source, const ByteSink& sink) : source_(source), sink_(sink) {}

  Result<std::uint64_t> write() {
    if (auto sent = sink_(kBinaryMagic); !sent) return std::move(sent).error();
    std::string head;
    put(head, static_cast<std::uint32_t>(source_.block_tokens().value));
    head += source_.format();
    frame(kHead, head);
    std::vector<Arrival> batch(4096);
    while (true) {
      const auto n = source_.next(batch);
      if (!n) return n.error();
      if (*n == 0) break;
      rows(std::span(batch).first(*n));
      if (auto sent = flush(); !sent) return std::move(sent).error();
    }
    std::string end;
    put(end, count_);
    put(end, checksum_);
    frame(kEnd, end);
    if (auto sent = flush(); !sent) return std::move(sent).error();
    return count_;
  }

 private:
  void frame(std::uint32_t kind, std::string_view payload, std::string_view more = {}) {
    const std::size_t begin = out_.size();
    put(out_, kind);
    put(out_, static_cast<std::uint32_t>(payload.size() + more.size()));
    out_ += payload;
    out_ += more;
    if (kind != kEnd) checksum_ = check(checksum_, std::string_view(out_).substr(begin));
  }

  Result<void> flush() {
    auto sent = sink_(out_);
    out_.clear();
    return sent;
  }

  void names(std::uint32_t table, const Interner& interner, std::size_t& written) {
    for (; written < interner.size(); ++written) {
      std::string payload;
      put(payload, table);
      payload += interner[static_cast<std::uint32_t>(written)];
      frame(kName, payload);
    }
  }

  std::uint32_t class_of(const Arrival& a) {
    const Class want{a.model,
                     a.tenant,
                     a.team,
                     a.needs,
                     (a.batch ? kBatch : 0U) | (a.failed ? kFailed : 0U) | (a.cache_hit ? kCacheHit : 0U),
                     a.project,
                     a.key};
    if (a.tenant < latest_.size() && latest_[a.tenant].first == want) return latest_[a.tenant].second;
    const auto [at, fresh] = classes_.try_emplace(want, static_cast<std::uint32_t>(classes_.size()));
    if (fresh) {
      std::string payload;
      for (const std::uint32_t part : {want.model, want.tenant, want.team, want.needs, want.flags}) put(payload, part);
      if (want.project != 0 || want.key != 0)
        for (const std::uint32_t part : {want.project, want.key}) put(payload, part);
      frame(kClass, payload);
    }
    if (a.tenant < (1U << 20)) {
      if (a.tenant >= latest_.size()) latest_.resize(a.tenant + 1, {Class{~0U, ~0U, ~0U, 0, 0, 0, 0}, 0});
      latest_[a.tenant] = {want, at->second};
    }
    return at->second;
  }

  void extras(const Arrival& a, bool numbered) {
    std::uint32_t mask = numbered ? kRowNumber : 0U;
    if (a.reasoning != 0) mask |= kReasoningTokens;
    if (a.cached != -1) mask |= kCachedTokens;
    if (a.cache_write != 0) mask |= kCacheWriteTokens;
    if (a.cost_nano != -1) mask |= kCost;
    if (a.ttft_us != -1) mask |= kTtft;
    if (a.duration_us != -1) mask |= kDuration;
    if (!a.blocks.empty()) mask |= kBlocks;
    if (!only_common_parts(a)) mask |= kParts;
    put(extras_, mask);
    if (mask & kRowNumber) put(extras_, a.row);
    if (mask & kReasoningTokens) put(extras_, a.reasoning);
    if (mask & kCachedTokens) put(extras_, a.cached);
    if (mask & kCacheWriteTokens) put(extras_, a.cache_write);
    if (mask & kCost) put(extras_, a.cost_nano);
    if (mask & kTtft) put(extras_, a.ttft_us);
    if (mask & kDuration) put(extras_, a.duration_us);
    if (mask & kBlocks) {
      put(extras_, static_cast<std::uint32_t>(a.blocks.size()));
      extras_.append(reinterpret_cast<const char*>(a.blocks.data()), a.blocks.size_bytes());
    }
    if (mask & kParts)
      for (const Part& part : kRareParts) put(extras_, a.*part.member);
  }

  void rows(std::span<const Arrival> batch) {
    names(0, source_.models(), models_);
    names(1, source_.tenants(), tenants_);
    names(2, source_.teams(), teams_);
    names(3, source_.projects(), projects_);
    names(4, source_.keys(), keys_);
    std::size_t begin = 0;
    while (begin < batch.size()) {
      rows_.clear();
      extras_.clear();
      const std::int64_t first = batch[begin].row;
      std::size_t end = begin;
      for (; end < batch.size() && extras_.size() < kFrameMax / 32; ++end) {
        const Arrival& a = batch[end];
        const bool numbered = a.row != first + static_cast<std::int64_t>(end - begin);
        const bool more = numbered || a.reasoning != 0 || a.cached != -1 || a.cache_write != 0 || a.cost_nano != -1 ||
                          a.ttft_us != -1 || a.duration_us != -1 || !a.blocks.empty() || !only_common_parts(a);
        const std::uint32_t kind = class_of(a);
        char row[kRowBytes];
        const std::int64_t at = nanos(a.at);
        const std::uint32_t limit = static_cast<std::uint32_t>(a.max_output) | (more ? kHasExtras : 0U);
        std::memcpy(row, &at, 8);
        std::memcpy(row + 8, &a.prompt, 4);
        std::memcpy(row + 12, &a.output, 4);
        std::memcpy(row + 16, &kind, 4);
        std::memcpy(row + 20, &limit, 4);
        rows_.append(row, kRowBytes);
        if (more) extras(a, numbered);
      }
      std::string head;
      put(head, first);
      put(head, static_cast<std::uint32_t>(end - begin));
      put(head, std::uint32_t{0});
      head += rows_;
      frame(kRows, head, extras_);
      count_ += end - begin;
      begin = end;
    }
  }

  RequestSource& source_;
  const ByteSink& sink_;
  std::string out_, rows_, extras_;
  std::uint64_t count_ = 0, checksum_ = 0;
  std::size_t models_ = 0, tenants_ = 0, teams_ = 0, projects_ = 1, keys_ = 1;  ///< names written; 0 is "" to both
  std::map<Class, std::uint32_t> classes_;
  std::vector<std::pair<Class, std::uint32_t>> latest_;  ///< by tenant, since a tenant's rows are mostly alike
};

}  // namespace

Result<std::uint64_t> write_binary(RequestSource& source, const ByteSink& sink) { return Writer(source, sink).write(); }

}  // namespace ace
