/// The plant against measured engines: prints the tables of docs/PLANT.md and holds them to their bars.
#include <fmt/format.h>

#include <gtest/gtest.h>

#include "replay/measured_testing.h"

namespace ace {
namespace {

using namespace measured;

TEST(PlantData, agrees_with_the_load_sweeps) {
  fmt::print("| set-up | stage | asked /s | served /s | plant | TTFT ms | plant | TPOT ms | plant | where |\n");
  fmt::print("|---|---|---|---|---|---|---|---|---|---|\n");
  std::string summary;
  std::vector<std::pair<double, double>> saturation;  // served: measured, plant
  for (const char* setup : kSetups) {
    const std::vector<Stage> stages = read_sweep(setup);
    const SweepFit fit = fit_sweep(setup, stages);
    std::vector<double> errors_ttft, errors_tpot;
    double worst_rate = 0.0;
    for (std::size_t i = 0; i < stages.size(); ++i) {
      const Stage& real = stages[i];
      const Stage plant = run_stage(fit, real);
      const bool below = below_knee(stages, i);
      if (below) {
        errors_ttft.push_back(std::abs(plant.ttft / real.ttft - 1.0));
        errors_tpot.push_back(std::abs(plant.tpot / real.tpot - 1.0));
      }
      if (saturated(real)) {
        worst_rate = std::max(worst_rate, std::abs(plant.served / real.served - 1.0));
        EXPECT_GT(plant.ttft, 10.0 * stages[0].ttft) << setup << " stage " << i << ": the plant must be saturated too";
      }
      fmt::print("| {} | {}{} | {:.1f} | {:.1f} | {:.1f} | {:.1f} | {:.1f} | {:.2f} | {:.2f} | {} |\n", setup, i,
                 i % 2 == 0 ? " (fit)" : "", real.asked, real.served, plant.served, 1e3 * real.ttft, 1e3 * plant.ttft,
                 1e3 * real.tpot, 1e3 * plant.tpot,
                 below             ? "below"
                 : saturated(real) ? "saturated"
                                   : "at the knee");
      if (i + 1 == stages.size()) saturation.emplace_back(real.served, plant.served);
    }
    summary += fmt::format("| {} | {:.2f} | {:.3f} | {} | {:.1f} | {:.1f}% | {:.1f}% | {:.1f}% |\n", setup,
                           1e3 * fit.profile.step_base_s, 1e3 * fit.profile.step_per_sequence_s, fit.profile.batch_max,
                           1e3 * fit.outside_s, 100 * median(errors_ttft), 100 * median(errors_tpot), 100 * worst_rate);
    EXPECT_LE(median(errors_ttft), 0.25) << setup;
    EXPECT_LE(median(errors_tpot), 0.25) << setup;
    EXPECT_LE(worst_rate, 0.15) << setup;
  }
  fmt::print(
      "\n| set-up | base ms | per sequence ms | batch | outside ms | TTFT | TPOT | saturation rate |\n"
      "|---|---|---|---|---|---|---|---|\n{}\n",
      summary);
  for (const auto& a : saturation)  // set-ups further apart than the bar, in the order of their saturation rates
    for (const auto& b : saturation) EXPECT_TRUE(a.first <= 1.15 * b.first || a.second > b.second) << b.first;
}

/// Share of pairs that both put in the same order.
double concordant(const std::vector<double>& a, const std::vector<double>& b) {
  double same = 0.0, pairs = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t j = i + 1; j < a.size(); ++j) {
      if (a[i] == a[j] || b[i] == b[j]) continue;
      pairs += 1.0;
      same += (a[i] < a[j]) == (b[i] < b[j]) ? 1.0 : 0.0;
    }
  return same / pairs;
}

TEST(PlantData, agrees_with_single_requests_of_two_runs) {
  const struct {
    const char* gpu;
    std::int64_t kv_tokens;
  } runs[] = {{"RTX4090", 43'500},       // the tokens in flight over the share in use that it logged at 5 and 6 s
              {"RTXPRO6000", 600'000}};  // what 96 GB leave beside the weights; the batch limit binds long before
  fmt::print(
      "| run | requests | below the knee | outside ms | TTFT | TPOT | TTFT, all | TPOT, all | tokens/s | plant | order "
      "|\n|---|---|---|---|---|---|---|---|---|---|---|\n");
  for (const auto& run : runs) {
    const std::vector<MeasuredRequest> real = read_run(run.gpu);
    const ServerProfile profile = layer_profile(run.gpu, run.kv_tokens);
    std::vector<double> differences;
    const std::vector<MeasuredRequest> bare = run_requests(profile, 0.0, real);
    for (std::size_t i = 0; i < real.size(); i += 2)
      if (below_knee(real[i])) differences.push_back(real[i].ttft() - bare[i].ttft());
    const double outside = median(differences);
    const std::vector<MeasuredRequest> plant = run_requests(profile, outside, real);
    std::vector<double> ttft, tpot, ttft_all, tpot_all, last_real, last_plant;
    double end_real = 0.0, end_plant = 0.0, tokens = 0.0;
    std::size_t below = 0;
    for (std::size_t i = 0; i < real.size(); ++i) {
      const double error_ttft = std::abs(plant[i].ttft() / real[i].ttft() - 1.0);
      const double error_tpot = std::abs(plant[i].tpot() / real[i].tpot() - 1.0);
      below += below_knee(real[i]) ? 1U : 0U;
      if (below_knee(real[i]) && i % 2 == 1) ttft.push_back(error_ttft);  // the even ones gave `outside`
      if (below_knee(real[i])) tpot.push_back(error_tpot);
      ttft_all.push_back(error_ttft);
      tpot_all.push_back(error_tpot);
      tokens += static_cast<double>(real[i].output);
      last_real.push_back(real[i].last);
      last_plant.push_back(plant[i].last);
      end_real = std::max(end_real, real[i].last);
      end_plant = std::max(end_plant, plant[i].last);
    }
    const double order = concordant(last_real, last_plant);
    fmt::print("| {} | {} | {} | {:.0f} | {:.1f}% | {:.1f}% | {:.1f}% | {:.1f}% | {:.0f} | {:.0f} | {:.3f} |\n",
               run.gpu, real.size(), below, 1e3 * outside, 100 * median(ttft), 100 * median(tpot),
               100 * median(ttft_all), 100 * median(tpot_all), tokens / end_real, tokens / end_plant, order);
    EXPECT_LE(median(ttft), 0.25) << run.gpu;
    EXPECT_LE(median(tpot), 0.25) << run.gpu;
    EXPECT_NEAR(end_real / end_plant, 1.0, 0.15) << run.gpu;
    EXPECT_GT(order, 0.95) << run.gpu << ": past saturation requests end in the same order";
  }
}

}  // namespace
}  // namespace ace
