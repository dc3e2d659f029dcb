#include "spine/record.h"

#include <gtest/gtest.h>

#include "core/testing.h"
#include "spine/record_testing.h"

namespace ace::event {
namespace {

TEST(Record, comes_back_as_it_was_whatever_its_kind) {
  for_each_seed(100, [](Rng& rng) {
    for (std::size_t kind = 0; kind < std::variant_size_v<Event>; ++kind) {
      const Record record = gen::record_of(kind, rng);
      const Result<std::string> bytes = encode(record);
      ASSERT_TRUE(bytes) << bytes.error().what();
      const Result<Record> again = decode(*bytes);
      ASSERT_TRUE(again) << again.error().what();
      EXPECT_EQ(again->event, record.event) << name_of(kind_of(record.event));
      EXPECT_EQ(again->evidence, record.evidence);
      EXPECT_EQ(key_of(*again), key_of(record));
      EXPECT_EQ(again->snapshot, record.snapshot);
      EXPECT_EQ(*key_from(*bytes), key_of(record));
      EXPECT_EQ(*encode(*again), *bytes) << "one value, one encoding";
    }
  });
}

/// The event as a gateway writes it: 16 candidates, three reasons of exclusion, a prediction on recorded floats.
Record typical_decision(std::size_t candidates) {
  Rng rng(7, "typical");
  Record r = gen::record_of(1, rng);
  auto& e = std::get<Decided>(r.event);
  r.evidence = {};
  for (std::size_t i = 0; i < candidates; ++i) r.evidence.live.push_back(gen::column(rng));
  e.decision.chosen = candidates == 0 ? OfferId{} : OfferId{900};
  e.cached_predicted = {};
  if (candidates > 0) {
    r.evidence.live.front().offer = 900;
    e.cached_predicted = Tokens{r.evidence.live.front().cached};
  }
  e.decision.feasible = static_cast<std::uint32_t>(candidates);
  e.decision.verdict = Verdict::dispatched;
  e.decision.reserve_short = false;
  e.decision.excluded = {};
  e.decision.excluded[1] = 12;
  e.decision.excluded[5] = 300;
  e.decision.excluded[17] = 3;
  e.predicted = {412.5, 1024.0};
  e.cheapest_payg = OfferId{700};
  e.at = instant(static_cast<std::int64_t>(r.id.high >> 16) * 1'000'000) + std::chrono::microseconds{240};
  return r;
}

TEST(Record, holds_a_decision_in_64_bytes_and_24_for_each_candidate) {
  for (const std::size_t candidates : {0U, 1U, 4U, 16U, 32U}) {
    const Result<std::string> bytes = encode(typical_decision(candidates));
    ASSERT_TRUE(bytes);
    EXPECT_LE(bytes->size(), 64 + 24 * candidates) << candidates << " candidates";
  }
}

TEST(Record, refuses_what_no_field_may_hold) {
  const struct {
    const char* why;
    const char* name;
  } cases[] = {
      {"a prompt", "Please summarise the attached contract"},
      {"an e-mail address", "alice@example.com"},
      {"a provider's key", "sk-proj-abcdefghijklmnop"},
      {"a key of ours", "ace_sk_0123456789"},
      {"a cloud's key", "AKIAIOSFODNN7EXAMPLE"},
      {"a token", "eyJhbGciOiJIUzI1NiJ9"},
      {"a line end", "acme\n"},
      {"nothing", ""},
      {"97 bytes", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"},
      {"another script", "\xd0\xb0lice"},
  };
  for (const auto& c : cases) {
    Record record;
    record.event = Named{Named::Kind::tenant, Instant{}, 1, c.name};
    EXPECT_FALSE(encode(record)) << c.why;
    record.event = GpuBooking{GpuBooking::Use::served, c.name, 0, 1};
    EXPECT_FALSE(encode(record)) << c.why;
    FleetChanged fleet;
    fleet.models = {c.name};
    record.event = fleet;
    EXPECT_FALSE(encode(record)) << c.why;
    EXPECT_TRUE(is_label(label_of(c.name))) << c.why << " can be made a label: " << label_of(c.name);
  }
  Record record;
  record.event = UnitsChanged{Instant{}, {}, 1, 2, "because somebody wrote a long text here"};
  EXPECT_FALSE(encode(record)) << "a cause is one of a list";
}

/// Types say the rest: these are all the fields that hold bytes of any length, and each is checked above or by decode.
TEST(Record, refuses_bytes_that_are_no_value_of_its_kind) {
  const auto with = [](const std::string& tail) { return "\x0a\x10" + std::string(16, '\1') + tail; };
  const struct {
    const char* why;
    std::string bytes;
    Errc code;
  } cases[] = {
      {"nothing", "", Errc::corrupt},
      {"an id of 3 bytes",
       "\x0a\x03"
       "abc",
       Errc::corrupt},
      {"no kind", with(""), Errc::bad_input},
      {"a kind of a newer version", with("\xf2\x01\x02\x08\x01"), Errc::bad_input},  // field 30
      {"a named with free text",
       with("\xd2\x01\x07\x1a\x05"
            "a b c"),
       Errc::corrupt},
      {"an outcome that does not exist", with("\x52\x02\x08\x63"), Errc::corrupt},
      {"live columns cut short",
       with("\x3a\x05\x32\x03"
            "abc"),
       Errc::corrupt},
      {"a source that is not 16 bytes",
       with("\x5a\x04\x12\x02"
            "ab"),
       Errc::corrupt},
      {"an attempt without an end", with("\x42\x02\x08\x01"), Errc::corrupt},
  };
  for (const auto& c : cases) {
    const Result<Record> record = decode(c.bytes);
    ASSERT_FALSE(record) << c.why;
    EXPECT_EQ(record.error().code(), c.code) << c.why << ": " << record.error().what();
  }
}

TEST(Record, of_five_events_and_16_candidates_stays_below_200_bytes_on_average) {
  Rng rng(1, "sizes");
  std::size_t bytes = encode(typical_decision(16))->size(), events = 1;
  for (const std::size_t kind : {0U, 2U, 3U, 4U}) {
    bytes += encode(gen::record_of(kind, rng))->size();
    ++events;
  }
  EXPECT_LE(bytes / events, 160U) << "the frame around each adds 40 bytes";
}

TEST(LiveColumn, comes_back_from_its_24_bytes) {
  for_each_seed(300, [](Rng& rng) {
    const LiveColumn column = gen::column(rng);
    std::string bytes;
    append_column(bytes, column);
    ASSERT_EQ(bytes.size(), kColumnBytes);
    const auto again = columns_from(bytes);
    ASSERT_TRUE(again);
    EXPECT_EQ(again->front(), column);
  });
}

}  // namespace
}  // namespace ace::event
