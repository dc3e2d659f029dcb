#pragma once
/// One replica of a continuous-batching engine, as processor sharing in virtual time: O(log n) per event, no per-token
/// loop.
#include <cstdint>
#include <deque>
#include <vector>

#include "fleet/fleet.h"

namespace ace {

/// The world's replica. Requests wait first-in first-out for a batch slot and KV room and are prefilled in chunks that
/// ride on the steps of the running batch; every running sequence gets one token per step.
///
///   step = max(step_base, prompt tokens in it / prefill rate) + step_per_sequence x sequences + step_per_kv_token x KV
///
/// (weights are read once per step whatever rides on it: a roofline). A step carries at most `prefill_chunk` prompt
/// tokens, of as many prompts as fit. A prompt that arrives in mid-step waits for the next one; its first token comes
/// out at the end of the step that carries its last prompt token.
///
/// Steps that carry no prompt are not simulated one by one: between two events the batch is constant, so tokens come at
/// a constant rate. Nor are the steps that one long prompt fills alone. A sequence holds prompt + output / 2 KV tokens:
/// the mean over its residence. Times are seconds since the start of the run.
///
/// Measured against two real engines in docs/PLANT.md.
class Server {
 public:
  /// @param slowdown the plant's truth over the profile: 1.3 = everything takes 30% longer
  explicit Server(const ServerProfile& profile, double slowdown = 1.0);

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
  /// Moves to next() and makes that event happen. Kind none: a step ended that brought nobody's first or last token.
  Event fire();
  /// Removes a request wherever it is (an abort or the loss of the node); returns output tokens produced so far.
  std::int64_t remove(double now, std::uint32_t flight);
  /// All requests here, in arrival order of their flights' numbers.
  [[nodiscard]] std::vector<std::uint32_t> flights() const;

  /// Requests here.
  [[nodiscard]] std::size_t load() const { return load_; }
  /// Work ahead of a new arrival, for join-the-shortest-queue: tokens of prompts without a first token yet.
  [[nodiscard]] std::int64_t backlog() const { return backlog_; }
  /// Integral over time of the share in use, in seconds: all of it while prompts are prefilled, else the larger of
  /// slots and KV.
  [[nodiscard]] double used_seconds(double now);

 private:
  struct Waiting {
    std::uint32_t flight;
    std::int64_t prefill, prompt, output;
    std::int64_t left;  ///< prompt tokens that no step has carried yet
  };
  struct Running {
    double finish;  ///< in virtual tokens: whole
    std::uint32_t flight;
    std::int64_t held, output;
    bool operator<(const Running& other) const {  // heap: the soonest on top, ties by flight
      return finish != other.finish ? finish > other.finish : flight > other.flight;
    }
  };
  /// What happens at next_.
  enum class Next : std::uint8_t {
    nothing,
    finish,   ///< the front of running_ has its last token
    begin,    ///< the step under way ends and one with prompts begins
    end,      ///< the prefill phase ends: one step that carries prompts, or several that one long prompt fills
    deliver,  ///< that phase has just ended: the first tokens still to be told
  };
  void spend(double until);
  void admit();
  void begin_prefill();
  void plan();
  Event deliver();
  Event finish();
  [[nodiscard]] bool prefill_phase() const { return what_ == Next::end || what_ == Next::deliver; }
  [[nodiscard]] double overhead(std::size_t sequences) const;

  ServerProfile profile_;
  double slowdown_;
  double now_ = 0.0, next_;
  Next what_ = Next::nothing;
  double virtual_tokens_ = 0.0;    ///< tokens that a sequence running since the start would have; whole between steps
  double rate_ = 0.0;              ///< virtual tokens per second until next_
  double next_tokens_ = 0.0;       ///< virtual tokens at next_
  std::size_t completing_ = 0;     ///< leading prompts of prefilling_ that the prefill phase completes
  std::int64_t held_ = 0;          ///< KV tokens of running and prefilling
  std::int64_t held_running_ = 0;  ///< KV tokens that each step reads
  std::int64_t backlog_ = 0;
  std::size_t load_ = 0;
  double used_ = 0.0;
  std::vector<Running> running_;    ///< heap
  std::deque<Waiting> prefilling_;  ///< admitted (slot and KV held), first in first out
  std::deque<Waiting> waiting_;
};

}  // namespace ace
