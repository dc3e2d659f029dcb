#pragma once
/// One replica of a continuous-batching engine, as processor sharing in virtual time: O(log n) per event, no per-token
/// loop.
#include <cstdint>
#include <deque>
#include <vector>

#include "fleet/fleet.h"

namespace ace {

/// The world's replica. Requests wait first-in first-out for a batch slot and KV room, are prefilled one after another,
/// then decode together: every running sequence gets a token per engine step.
///
///   step = step_base + step_per_sequence x running + step_per_kv_token x KV held      (decode alone)
///   while a prompt is being prefilled, each step also carries one chunk of it: step + chunk / prefill rate
///
/// A sequence holds prompt + output / 2 KV tokens: the mean over its residence, so that rates are constant between
/// events. Times are seconds since the start of the run.
class Server {
 public:
  /// @param slowdown the plant's truth over the profile: 1.3 = everything takes 30% longer
  Server(const ServerProfile& profile, double slowdown = 1.0);

  struct Event {
    enum class Kind : std::uint8_t { none, first_token, finished } kind = Kind::none;
    std::uint32_t flight = 0;
    double at = 0.0;
  };

  /// A request arrives. @param prefill uncached prompt tokens  @param prompt all prompt tokens held in KV  @param
  /// output at least 1
  void arrive(double now, std::uint32_t flight, std::int64_t prefill, std::int64_t prompt, std::int64_t output);
  /// When the next event happens; infinity if the server is empty.
  [[nodiscard]] double next() const { return next_; }
  /// Moves to next() and makes that event happen.
  Event fire();
  /// Removes a request wherever it is (an abort or the loss of the node); returns output tokens produced so far.
  std::int64_t remove(double now, std::uint32_t flight);
  /// All requests here, in arrival order of their flights' numbers.
  [[nodiscard]] std::vector<std::uint32_t> flights() const;

  [[nodiscard]] std::size_t load() const { return running_.size() + prefilling_.size() + waiting_.size(); }
  /// Work ahead of a new arrival, for join-the-shortest-queue: prompt tokens not prefilled yet, then requests.
  [[nodiscard]] std::int64_t backlog() const { return backlog_; }
  /// Integral over time of the largest share in use (slots, KV), in seconds.
  [[nodiscard]] double used_seconds(double now);

 private:
  struct Waiting {
    std::uint32_t flight;
    std::int64_t prefill, prompt, output;
  };
  struct Running {
    double finish;  ///< in virtual tokens
    std::uint32_t flight;
    std::int64_t held, output;
    bool operator<(const Running& other) const {  // heap: the soonest on top, ties by flight
      return finish != other.finish ? finish > other.finish : flight > other.flight;
    }
  };
  void advance(double now);
  void admit();
  void plan();

  ServerProfile profile_;
  double slowdown_;
  double now_ = 0.0, next_;
  double virtual_tokens_ = 0.0;  ///< tokens that a sequence running since the start would have
  double decode_rate_ = 0.0, prefill_rate_ = 0.0;
  double prefill_left_ = 0.0;  ///< of the prompt being prefilled
  std::int64_t held_ = 0;      ///< KV tokens, with reservations
  std::int64_t backlog_ = 0;
  double used_ = 0.0;
  bool next_is_prefill_ = false;
  std::vector<Running> running_;    ///< heap
  std::deque<Waiting> prefilling_;  ///< admitted (slot and KV held), first in first out
  std::deque<Waiting> waiting_;
};

}  // namespace ace
