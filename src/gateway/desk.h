#pragma once
/// The one place where live requests are decided on and booked: what replay's engine does under a fake clock, for
/// requests that really happen. One for the process, behind one lock that is held for some microseconds and never over
/// I/O; the decision itself (dispatch/) takes none.
///
/// Start with `admit`, `decide` and `completed`; docs/GATEWAY.md has the modes.
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "core/rng.h"
#include "gateway/flight.h"
#include "gateway/prefixes.h"
#include "gateway/spine_port.h"
#include "gateway/standing_cost.h"
#include "gateway/steering.h"
#include "gateway/trial.h"
#include "ledger/budget.h"

namespace ace::gateway {

/// How far ACE acts: the trust ladder of the hot path.
enum class Mode : std::uint8_t {
  observe,  ///< forwards as the static route says, records what it would have done
  shadow,   ///< the same, and settles both beside each other
  canary,   ///< decides for a share of the traffic
  act,      ///< decides for all of it ("inline")
};
std::string_view name_of(Mode mode);

struct DeskOptions {
  Mode mode = Mode::observe;
  std::int64_t canary_ppm = 0;  ///< of tenant x model, in canary
  bool alike = false;           ///< A/A: both arms of a canary go where they went before
  TrialGates trial;
  bool serve_unledgered = false;  ///< while the spine cannot be written: serve without, and say so; else refuse
  std::size_t waiting_max = 1000;
  Duration patience{30 * kSecond};  ///< longest wait for capacity of a class without a deadline of its own
  std::uint64_t seed = 1;
  Belief::Options belief;
};

/// How often the spine is told what is paid whether it is used or not. A process that dies leaves no more than this
/// unsaid; each time costs a record per GPU and one per kind of cost.
constexpr Duration kStandingEvery{10 * kMinute};

class Desk {
 public:
  /// @param spine outlives the desk @param budgets as they stand, null = none are declared
  Desk(std::shared_ptr<const World> world, const DeskOptions& options, SpinePort& spine, BudgetGate* budgets);
  ~Desk();

  /// The one in force.
  [[nodiscard]] std::shared_ptr<const World> world() const { return world_.load(); }

  struct Arriving {
    std::shared_ptr<const World> world;  ///< that the ids are of
    Caller caller;
    ModelId model;
    Tokens prompt{0}, max_output{0};
    std::uint32_t needs = kText;
    bool batch = false;
    std::span<const std::uint32_t> blocks{};  ///< of its prompt, @see prompt_blocks; copied
    std::span<const OfferId> unable{};        ///< offers that cannot serve what is asked; copied
    OfferId fixed;                            ///< where the static route leads; none = nowhere
  };
  enum class Refused : std::uint8_t {
    outdated,  ///< another world is in force meanwhile: resolve again
    spine,     ///< it could not be recorded
    budget,
    unpriced,  ///< a hard budget holds for it, and nobody can say what it costs
  };
  struct Refusal {
    Refused why = Refused::spine;
    BudgetRefusal budget{};
    std::string budget_name{};
  };
  /// Holds what it may cost at most, and records it.
  std::variant<std::unique_ptr<Flight>, Refusal> admit(Instant now, const Arriving& arriving);

  /// What nobody reads: it takes no capacity that is known, teaches nothing and costs what is not known, so it is only
  /// recorded.
  struct Unread {
    std::shared_ptr<const World> world;  ///< that the ids are of
    Caller caller;
    DestinationId destination;  ///< that its rule allows
    std::int64_t bytes = 0;     ///< of its body
  };
  /// Records where it goes, before it is sent.
  std::variant<HandedOn, Refusal> hand_on(Instant now, const Unread& unread);
  /// @param status of the answer, 0 = none came @param received bytes of its body
  void handed_on(Instant now, const HandedOn& what, int status, std::int64_t received);

  /// Calls `then`, from any thread, once all that was recorded of it so far is durable.
  /// @return false if something of it was lost, and never will be; not where it is served without a record
  bool when_durable(const Flight& flight, std::function<void()> then);
  bool when_durable(const HandedOn& what, std::function<void()> then);

  struct Choice {
    Verdict verdict = Verdict::no_capacity;
    OfferId offer;      ///< where to send it, if dispatched
    bool shed = false;  ///< others were worth more of the queue
    Instant until{};    ///< no_capacity: wait no longer than this
  };
  /// Where it goes now. Decides again at every call. With no_capacity the flight is among those that wait, its `wake`
  /// is called when that may have changed, and it is to ask again then, or at `until` for the last time.
  Choice decide(Instant now, Flight& flight);

  /// What the head of an answer told of the destination's rate limits, good news or bad. The spine is told of the world
  /// in force alone.
  void told(Instant now, const Flight& flight, const RateWindows& windows);
  void first_token(Instant now, Flight& flight);

  /// What came of an attempt, as far as it came.
  struct Answered {
    Usage usage{};
    OfferId billed_as{};    ///< the deployment that the response names, else none
    bool streamed = false;  ///< else nobody saw when its first token came
  };
  struct Receipt {
    Usd cost{};      ///< C4
    Usd baseline{};  ///< C0
    bool priced = false;
    bool slo_met = false;
    std::size_t attempts = 0;
  };
  Receipt completed(Instant now, Flight& flight, const Answered& answered);

  struct Failed {
    Rejection why = Rejection::failed;
    Duration retry_after{0};
    RateLimit limit = RateLimit::unknown;
    Usage billed{};      ///< what the destination may bill for it all the same
    bool local = false;  ///< ours: nothing was asked of the destination
  };
  /// @return whether another attempt may be made: decide() again
  bool failed(Instant now, Flight& flight, const Failed& failure);

  /// Answered from ACE's own cache, before it was decided on. @param usage as the answer was counted when it was made
  Receipt answered_from_cache(Instant now, Flight& flight, RequestId source, const Usage& usage);

  /// It ends without an answer.
  Receipt gave_up(Instant now, Flight& flight);
  /// The client went away. @param so_far what had been used by then; nothing if it was not sent
  Receipt aborted(Instant now, Flight& flight, const Answered& so_far);

  /// What a round of looks at the engines of a pool came to.
  struct Scraped {
    std::shared_ptr<const World> world;  ///< that the id is of; one that is no longer in force teaches nothing
    DestinationId destination;
    EngineLoad load;            ///< of the servers that answered
    std::int64_t answered = 0;  ///< 0: nothing is known, and what was known grows stale
    std::int64_t declared = 0;  ///< servers in the fleet file
  };
  /// Decisions are made on it from now on, and hold it in their columns; the spine is told when another number of
  /// servers answers than before.
  void scraped(Instant now, const Scraped& look);

  /// Another world is in force. Requests under way end in theirs, and take their room in this one too.
  void change(Instant now, std::shared_ptr<const World> world);

  /// Records what is paid whether it is used or not, from the first call of anything that is told the time. What worlds
  /// and modes that are over have cost is said at once; what the spine does not take yet, with the next call.
  /// @param least of the world in force nothing is said until so much time has passed since it was said last
  void accrue(Instant now, Duration least = kStandingEvery);

  struct Wanted {
    Mode mode = Mode::observe;
    std::int64_t canary_ppm = 0;
    bool alike = false;
  };
  /// A step down the ladder is always taken. One up into canary or inline must have been earned by clean windows, and
  /// the end of an A/A by two arms that did not differ.
  /// @param forced an operator takes it upon himself @return check_failed, saying what is missing
  Result<void> set_mode(Instant now, const Wanted& wanted, bool forced);

  struct Standing {
    Wanted mode;
    std::size_t clean = 0, clean_needed = 0;
    std::optional<Trial::Difference> difference;
    std::array<TrialArm, 2> total;
    std::deque<TrialWindow> windows;
    std::string demoted;  ///< why it stepped down by itself; empty = it did not
  };
  [[nodiscard]] Standing standing() const;

  // Pictures for an operator. @see Steering
  [[nodiscard]] std::vector<DestinationView> destinations(Instant now);
  [[nodiscard]] Result<CurveView> curve(Instant now, std::string_view model, double prompt, double output);
  [[nodiscard]] std::vector<DecisionView> decisions(std::size_t most) const;

  struct View {
    Mode mode = Mode::observe;
    std::size_t in_flight = 0, waiting = 0;
    bool spine_down = false;
    std::uint64_t admitted = 0, unledgered = 0, shed = 0, demotions = 0;
  };
  [[nodiscard]] View view() const;

 private:
  static constexpr std::size_t kRecent = 1000;
  Instant tick(Instant now);
  [[nodiscard]] std::shared_ptr<Era> era_of(const std::shared_ptr<const World>& world) const;
  std::shared_ptr<Telling> telling_of(Era& era, bool acts, Instant now);
  bool acts_on(const Arriving& arriving) const;
  struct Symbols {
    std::uint32_t tenant = 0, team = 0, project = 0, key = 0;
  };
  /// Numbers of a caller's names on the spine; nothing if they cannot be said there.
  std::optional<Symbols> symbols_of(const Caller& caller, Instant now);
  [[nodiscard]] Request request_of(const Flight& flight, Instant now);
  void record(Flight& flight, event::Event event, std::uint32_t ordinal = 0, event::Evidence evidence = {});
  static event::Attempted& attempted(Flight& flight, Instant now, const Usage& billed);
  static void attempted(Flight& flight, Instant now, const Answered& answered);
  void record_attempts(Flight& flight);
  void lose();
  bool when_durable(const Telling* telling, std::uint64_t position, std::function<void()> then);
  bool recover(Instant now);
  bool observed(Era& era, Instant now, event::CapacityObserved seen);
  [[nodiscard]] bool acts_alone() const { return options_.mode == Mode::act; }
  void act_as(Mode mode, Instant now);
  /// What a world costs that is in force, or was, under one stream.
  struct Accrual {
    StandingCost cost;
    std::optional<std::uint64_t> number;  ///< on the spine, once that knows it
    std::optional<Instant> ended;
  };
  void begin_accrual(Instant now);
  void end_accrual(Instant now);
  void number_accrual(Instant now);
  bool pay();
  void wait(Flight& flight);
  void leave_queue(Flight& flight);
  void wake_next(ModelId model);
  void wake_all();
  static Duration predicted_residence(const World& world, const Request& request, OfferId offer);
  void occupy_virtually(Era& era, const Request& request, const Decision& decision, Instant now);
  void release_virtual(Era& era, Instant now);
  static void predict_cached(Era& era, const Flight& flight, Live& live, Instant now);
  static void remember_prompt(const Flight& flight, Instant now);
  void claim_in(const std::shared_ptr<Era>& era, Flight& flight, Instant now);
  void remember(Instant now, const Flight& flight, const event::Completed& completed, const Receipt& receipt);
  void judge(Instant now, const Flight& flight, const event::Completed& completed, const Receipt& receipt);
  Receipt end(Instant now, Flight& flight, event::Completed completed);

  DeskOptions options_;
  SpinePort& spine_;
  BudgetGate* budgets_;
  struct SharedWorld {  // an atomic shared_ptr; its own lock, so that who reads it never waits for a decision
    std::shared_ptr<const World> load() const {
      const std::scoped_lock lock(mutex);
      return world;
    }
    void store(std::shared_ptr<const World> next) {
      const std::scoped_lock lock(mutex);
      world = std::move(next);
    }
    mutable std::mutex mutex;
    std::shared_ptr<const World> world;
  } world_;

  std::mutex accruing_;  ///< taken before the other, and held longer: of what follows
  struct Owed {
    std::uint64_t number;
    event::Event event;
  };
  std::deque<Owed> owed_;  ///< standing cost that the spine has not taken yet, the oldest first

  mutable std::mutex mutex_;  ///< of all that follows
  Instant now_ = Instant::min();
  Rng ids_;
  std::vector<std::shared_ptr<Era>> eras_;  ///< the last one is in force
  struct Order {
    bool operator()(const Flight* a, const Flight* b) const;
  };
  std::set<Flight*, Order> queue_;  ///< the one to serve next first
  bool spine_down_ = false;
  Instant down_since_{}, tried_{};  ///< of the spine: lost since, and last tried
  std::uint64_t admitted_ = 0, unledgered_ = 0, shed_ = 0;
  std::deque<Accrual> accruals_;          ///< the last one is in force
  std::map<RequestId, Flight*> flights_;  ///< not ended
  Prefixes prefixes_;
  Trial trial_;
  std::deque<DecisionView> recent_;  ///< requests that have ended, the latest last
  std::string demoted_;
  std::uint64_t demotions_ = 0;
};

}  // namespace ace::gateway
