#include "ledger/row.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "core/csv.h"
#include "core/testing.h"
#include "ledger/ledger_testing.h"

namespace ace {
namespace {

using namespace ledger_testing;

TEST(Row, holds_everything_of_one_request) {
  const World w;
  const Settled s = Events(w, kGpu, kLarge, text(1000, 400, 100))
                        .with([](Events& e) {
                          e.admitted.row = 7;
                          e.completed.ttft = Duration{1'234'567};
                        })
                        .settled();
  std::string csv;
  append_csv_header(csv);
  const std::vector<std::string> teams = {"=cmd|' /C calc'!A0"};
  append_csv(csv, row_of(w.snapshot, s, Reason::none, Usd{1'500}), {w.fleet.get(), &names(), &teams});
  Result<CsvTable> table = CsvTable::open(csv);
  ASSERT_TRUE(table);
  CsvRow row;
  ASSERT_TRUE(*table->next(row));
  const auto cell = [&](std::string_view name) { return std::string(row.fields[*table->column(name)]); };
  EXPECT_EQ(cell("row"), "7");
  EXPECT_EQ(cell("at"), "1970-01-01T00:00:00Z");
  EXPECT_EQ(cell("tenant"), "beta");
  EXPECT_EQ(cell("team"), "'=cmd|' /C calc'!A0");
  EXPECT_EQ(cell("model"), "large");
  EXPECT_EQ(cell("destination"), "gpu");
  EXPECT_EQ(cell("input_tokens"), "600");
  EXPECT_EQ(cell("cached_tokens"), "400");
  EXPECT_EQ(cell("c0_usd"), "0.014");
  EXPECT_EQ(cell("c3_usd"), "0.00832");
  EXPECT_EQ(cell("c4_usd"), "0.00016");
  EXPECT_EQ(cell("counted_usd"), "0.01384");
  EXPECT_EQ(cell("other_baseline_usd"), "0.0000015");
  EXPECT_EQ(cell("ttft_ms"), "1.234");
  EXPECT_EQ(cell("gate"), "none");
}

TEST(Row, has_every_class_that_a_price_list_prices_apart) {
  const World w;
  Usage usage = text(1000, 400, 100);
  std::int64_t count = 1;
  for (const Unit unit : {Unit::cache_write, Unit::cache_write_1h, Unit::audio_input, Unit::image_input,
                          Unit::video_input, Unit::reasoning, Unit::audio_output, Unit::image_output, Unit::query})
    usage.set(unit, count++);
  const Settled s = Events(w, kGpu, kLarge, usage).with([](Events& e) { e.admitted.h0 = Tokens{384}; }).settled();
  std::string csv;
  append_csv_header(csv);
  append_csv(csv, row_of(w.snapshot, s, Reason::none, Usd{1'500}), {w.fleet.get(), &names(), nullptr});
  Result<CsvTable> table = CsvTable::open(csv);
  ASSERT_TRUE(table);
  CsvRow row;
  ASSERT_TRUE(*table->next(row));
  std::string cells;
  for (const char* name :
       {"input_tokens", "cached_tokens", "cache_write_tokens", "cache_write_1h_tokens", "audio_input_tokens",
        "image_input_tokens", "video_input_tokens", "output_tokens", "reasoning_tokens", "audio_output_tokens",
        "image_output_tokens", "other_units", "h0_cached_tokens"})
    cells += std::string(row.fields[*table->column(name)]) + " ";
  EXPECT_EQ(cells, "600 400 1 2 3 4 5 100 6 7 8 9 384 ");
}

TEST(Row, stands_under_the_destination_that_billed_it_after_native_spillover) {
  const World w;
  const Settled spilled =
      Events(w, kPtu).with([&](Events& e) { e.attempts.back().billed_as = w.offer(kApi, kLarge); }).settled();
  const Row row = row_of(w.snapshot, spilled, Reason::none, {});
  EXPECT_EQ(row.destination, kApi);
  EXPECT_EQ(row.sent_to, kPtu);
  EXPECT_GT(row.chain.c[4], Usd{}) << "the API's price";
  const Row within = row_of(w.snapshot, Events(w, kPtu).settled(), Reason::none, {});
  EXPECT_EQ(within.destination, kPtu);
  EXPECT_FALSE(within.sent_to.valid());
}

TEST(Row, has_as_many_cells_as_names) {
  const World w;
  for_each_seed(200, [&](Rng& rng) {
    std::string line;
    append_csv(line, row_of(w.snapshot, any_request(w, rng), Reason::none, {}), {w.fleet.get(), &names(), nullptr});
    EXPECT_EQ(std::count(line.begin(), line.end(), ',') + 1, static_cast<std::int64_t>(row_fields().size()));
  });
}

TEST(Row, add_up_to_the_statement_with_the_gates_joined_in_a_second_pass) {
  const World w;
  for_each_seed(60, [&](Rng& rng) {
    Ledger::Options options;
    options.gates.cell_requests_min = 5;
    options.gates.served_min = 0.9;
    std::vector<Settled> requests;
    for (int i = 0; i < 200; ++i) requests.push_back(any_request(w, rng));
    const Statement s = closed(w, requests, options);
    Usd counted{}, disallowed{};
    for (const Settled& r : requests) {
      const Reason gate = s.gate_of(hour_of(r.admitted.at), r.admitted.tenant, r.admitted.requested);
      const Row row = row_of(w.snapshot, r, gate, {}, options.gates);
      counted += row.counted;
      disallowed += row.disallowed;
    }
    EXPECT_EQ(counted, s.counted.sum());
    EXPECT_EQ(disallowed, s.disallowed.sum());
  });
}

}  // namespace
}  // namespace ace
