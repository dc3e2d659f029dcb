#include "fleet/catalog.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/time.h"

namespace ace {
namespace {

using testing::HasSubstr;

const std::string kSky =
    "InstanceType,vCPUs,MemoryGiB,AcceleratorName,AcceleratorCount,GpuInfo,Region,AvailabilityZone,Price,SpotPrice\n";

CatalogReading read(const std::string& csv) {
  Result<CatalogReading> reading = parse_catalog(csv);
  EXPECT_TRUE(reading) << reading.error().what();
  return reading ? *reading : CatalogReading{};
}

std::string findings(const CatalogReading& reading) {
  std::string all;
  for (const CatalogFinding& f : reading.findings)
    all += (all.empty() ? "" : " ") + std::to_string(f.line) + ":" + std::string(name_of(f.trap));
  return all;
}

std::string text(const std::optional<Usd>& price) { return price ? to_decimal(*price) : "-"; }

TEST(Catalog, every_trap_of_a_skypilot_catalog_is_named_and_never_a_price) {
  const struct {
    const char* why;
    const char* row;
    const char* findings;
    const char* prices;  // on-demand/spot of the offer, "" if there is none
  } cases[] = {
      {"a plain offer", "p5,192,2048,H200,8,,us-east-1,us-east-1a,98.32,39.33", "", "98.32/39.33"},
      {"no spot market", "p5,192,2048,H200,8.0,,us-east-1,us-east-1a,98.32,", "", "98.32/-"},
      {"an absent spot price as pandas writes it", "p5,192,2048,H200,8,,us-east-1,us-east-1a,98.32,nan", "", "98.32/-"},
      {"both unknown", "v6e,4,8,H200,1,,asia-east1,asia-east1-c,700.0,700.0", "2:sentinel 2:sentinel 2:no_price", ""},
      {"spot unknown", "v6e,4,8,H200,1,,southamerica-west1,southamerica-west1-a,2.7,700.0", "2:sentinel", "2.70/-"},
      {"host without its accelerators", "a3-highgpu-8g,208,1872,,,,us-central1,us-central1-a,10.1,3.2", "2:host_only",
       ""},
      {"a machine without accelerators", "m5.large,2,8,,,,us-east-1,us-east-1a,0.096,0.03", "2:no_gpu", ""},
      {"accelerators without a machine", ",,,A100-80GB,8,,us-central1,us-central1-a,31.4,12.5",
       "2:alias 2:accelerator_only", ""},
      {"spot above on-demand", "p5,192,2048,H200,8,,us-east-1,us-east-1a,98.32,98.33", "2:spot_above_on_demand",
       "98.32/-"},
      {"spot equal to on-demand", "p5,192,2048,H200,8,,us-east-1,us-east-1a,98.32,98.32", "", "98.32/98.32"},
      {"free", "p5,192,2048,H200,8,,us-east-1,us-east-1a,0.0,0", "2:not_positive 2:not_positive 2:no_price", ""},
      {"negative", "p5,192,2048,H200,8,,us-east-1,us-east-1a,-1,0.5", "2:not_positive", "-/0.50"},
      {"no number", "p5,192,2048,H200,8,,us-east-1,us-east-1a,$98,0.5", "2:unreadable", "-/0.50"},
      {"blank", "p5,192,2048,H200,8,,us-east-1,us-east-1a,,", "2:no_price", ""},
      {"no count", "p5,192,2048,H200,,,us-east-1,us-east-1a,98.32,39.33", "2:unreadable", ""},
      {"another name", "p5,192,2048,H100-SXM,8,,us-east-1,us-east-1a,98.32,39.33", "2:alias", "98.32/39.33"},
  };
  for (const auto& c : cases) {
    const CatalogReading reading = read(kSky + c.row + "\n");
    EXPECT_EQ(findings(reading), c.findings) << c.why;
    EXPECT_EQ(reading.offers.empty() ? "" : text(reading.offers[0].on_demand) + "/" + text(reading.offers[0].spot),
              c.prices)
        << c.why;
    EXPECT_EQ(reading.rows, 1U) << c.why;
  }
}

TEST(Catalog, a_host_and_its_accelerators_that_are_sold_apart_are_added_up) {
  const std::string parts =
      ",,,H100,8,,us-central1,us-central1-a,78.00,25.5\n"
      ",,,H100,4,,us-central1,us-central1-a,39.00,12.75\n"
      ",,,H100,8,,europe-west4,,80.00,\n"
      ",,,A100-80GB,1,,us-central1,us-central1-a,3.93,700.0\n"
      ",,,tpu-v4-8,1,,us-central1,us-central1-a,8.8,3.1\n";
  const struct {
    const char *why, *row, *findings, *prices;
  } cases[] = {
      // 10.1 + 78 and 3.2 + 25.5
      {"both", "a3-highgpu-8g,208,1872,,,,us-central1,us-central1-a,10.1,3.2", "7:summed", "88.10/28.70"},
      {"no spot price of the accelerators: none of the machine",
       "a3-highgpu-8g,208,1872,,,,europe-west4,europe-west4-b,11,3", "7:summed", "91.00/-"},
      {"an unknown spot price is none", "a2-ultragpu-1g,12,170,,,,us-central1,us-central1-a,1.1,0.4",
       "5:sentinel 7:summed", "5.03/-"},
      {"another number of accelerators", "a3-highgpu-2g,52,468,,,,us-central1,us-central1-a,2.5,0.8", "7:host_only",
       ""},
      {"another region", "a3-highgpu-8g,208,1872,,,,us-east4,us-east4-a,10.1,3.2", "7:host_only", ""},
      {"a machine that is not known", "a3-hypergpu-8g,208,1872,,,,us-central1,us-central1-a,10.1,3.2", "7:host_only",
       ""},
  };
  for (const auto& c : cases) {
    const CatalogReading reading = read(kSky + parts + c.row + "\n");
    std::string own;  // findings of the rows under test, without those of parts that nobody takes
    for (const CatalogFinding& f : reading.findings)
      if (f.trap != CatalogTrap::accelerator_only && (f.line == 7 || std::string(c.findings).find("5:") == 0) &&
          f.trap != CatalogTrap::alias)
        own += (own.empty() ? "" : " ") + std::to_string(f.line) + ":" + std::string(name_of(f.trap));
    EXPECT_EQ(own, c.findings) << c.why;
    EXPECT_EQ(reading.offers.empty() ? "" : text(reading.offers[0].on_demand) + "/" + text(reading.offers[0].spot),
              c.prices)
        << c.why;
    if (!reading.offers.empty()) {
      EXPECT_FALSE(reading.offers[0].accelerator.empty()) << c.why;
      EXPECT_EQ(reading.offers[0].line, 7U);
    }
    EXPECT_EQ(reading.count(CatalogTrap::accelerator_only), *c.prices == '\0' ? 5U : 4U) << "the TPU is always alone";
  }
}

TEST(Catalog, an_offer_keeps_its_place_and_its_accelerators) {
  const CatalogReading reading = read(
      "Region,InstanceType,Price,SpotPrice,AcceleratorName,AcceleratorCount\n"
      "westeurope,Standard_NC40,6.98,2.79,H100-NVLINK,0.5\n");
  ASSERT_EQ(reading.offers.size(), 1U) << "columns in any order, no zones (Azure)";
  EXPECT_EQ(reading.offers[0].instance, "Standard_NC40");
  EXPECT_EQ(reading.offers[0].region, "westeurope");
  EXPECT_EQ(reading.offers[0].accelerator, "h100-pcie");
  EXPECT_EQ(reading.offers[0].gpu_thousandths, 500);
}

TEST(Catalog, zones_of_a_region_that_ask_different_prices_are_named) {
  const CatalogReading reading = read(kSky +
                                      "p5,1,1,H200,8,,r1,a,10,3\n"
                                      "p5,1,1,H200,8,,r1,b,10,4\n"
                                      "p5,1,1,H200,8,,r1,c,11,4\n"
                                      "p5,1,1,H200,8,,r2,a,12,4\n");
  EXPECT_EQ(findings(reading), "4:unequal_zones");
}

TEST(Catalog, a_price_far_from_the_other_prices_of_its_machine_is_implausible) {
  std::string csv = "date,instance,region,ondemand_usd_per_h,spot_usd_per_h\n";
  for (int i = 0; i < 7; ++i) csv += "2026-01-0" + std::to_string(i + 1) + ",a2,r" + std::to_string(i) + ",4,1\n";
  EXPECT_EQ(findings(read(csv + "2026-01-09,a2,x,2,1\n")), "") << "exactly half of the median 4";
  EXPECT_EQ(findings(read(csv + "2026-01-09,a2,x,1.99,1\n")), "9:implausible");
  EXPECT_EQ(findings(read(csv + "2026-01-09,a2,x,8,1\n")), "");
  EXPECT_EQ(findings(read(csv + "2026-01-09,a2,x,8.01,1\n")), "9:implausible");
  EXPECT_EQ(findings(read(csv + "2026-01-09,a3,x,0.4,0.1\n")), "") << "another machine: nothing to compare with";
  EXPECT_FALSE(read(csv + "2026-01-09,a2,x,1.99,1\n").offers.back().plausible) << "kept, and marked";
}

TEST(Catalog, rates_divided_from_monthly_ones_are_rounded_to_a_nano_dollar) {
  const CatalogReading reading = read(
      "date,instance,region,ondemand_usd_per_h,spot_usd_per_h,commit1y_usd_per_month,commit3y_usd_per_month\n"
      "2026-01-01,a3,r,61.9481468449,20.4230336438356,1682.1512932,\n");
  EXPECT_EQ(text(reading.offers[0].on_demand), "61.948146845");
  EXPECT_EQ(text(reading.offers[0].spot), "20.423033644");
  EXPECT_EQ(text(reading.offers[0].commit_1y), "1682.1512932");
  EXPECT_EQ(text(reading.offers[0].commit_3y), "-");
}

TEST(Catalog, a_file_that_is_none_is_refused) {
  EXPECT_EQ(parse_catalog("").error().code(), Errc::bad_input);
  EXPECT_EQ(parse_catalog("a,b\n1,2\n").error().code(), Errc::bad_input);
  EXPECT_NE(parse_catalog("InstanceType,Price\nx,1\n").error().what().find("AcceleratorName"), std::string::npos);
  EXPECT_EQ(parse_catalog(kSky + "p5,1\n").error().code(), Errc::corrupt);
  EXPECT_EQ(findings(read("date,instance,region,ondemand_usd_per_h,spot_usd_per_h\n2026-02-30,a,r,1,1\n")),
            "2:unreadable");
}

TEST(Catalog, one_gpu_has_one_name) {
  const struct {
    const char *name, *want;
  } cases[] = {{"H100", "h100-80g"},
               {"H100-SXM", "h100-80g"},
               {"H100-MEGA", "h100-80g"},
               {"H100 (80 GB)", "h100-80g"},
               {"H100 HGX (80GB)", "h100-80g"},
               {"h100-80gb-mega", "h100-80g"},
               {"H100 PCIe (80GB)", "h100-pcie"},
               {"A100", "a100-40g"},
               {"A100-80GB", "a100-80g"},
               {"A100 (40 GB)", "a100-40g"},
               {"V100-32GB", "v100-32g"},
               {"L4", "l4"},
               {"h200", "h200"},
               {"Quadro RTX 6000 (24 GB)", "quadro-rtx-6000-24-gb"},
               {"", ""}};
  for (const auto& c : cases) EXPECT_EQ(canonical_accelerator(c.name), c.want) << c.name;
  for (const auto& c : cases)
    EXPECT_EQ(canonical_accelerator(c.want), c.want) << "a canonical name is its own name: " << c.want;
}

TEST(SpotSeries, holds_each_price_until_the_next_date) {
  const CatalogReading reading = read(
      "date,instance,region,ondemand_usd_per_h,spot_usd_per_h\n"
      "2026-01-03,a2,r,4,1.5\n"
      "2026-01-01,a2,r,4,1\n"
      "2026-01-02,a2,r,4,\n"
      "2026-01-01,a2,other,4,3\n"
      "2026-01-13,a2,r,4,1.5\n");
  const Result<HourlyPrices> series = price_series(reading, "a2", "r", RentalMarket::spot);
  ASSERT_TRUE(series) << series.error().what();
  EXPECT_EQ(series->first_hour, hour_of(instant_of({2026, 1, 1})));
  // 1 January until the 3rd at 1 (the 2nd has no price), until the 13th at 1.5, and that for its last day: 11 days.
  ASSERT_EQ(series->prices.size(), (2U + 10U + 1U) * 24U);
  EXPECT_EQ(to_decimal(series->prices[47]), "1.00");
  EXPECT_EQ(to_decimal(series->prices[48]), "1.50");
  EXPECT_EQ(series->changes, 1U);
  EXPECT_EQ(series->bridged, 48U) << "ten days between two dates, two more than a weekly list that is a day late";
  EXPECT_EQ(price_series(reading, "a2", "nowhere", RentalMarket::spot).error().code(), Errc::not_found);
  const Result<HourlyPrices> on_demand = price_series(reading, "a2", "r", RentalMarket::on_demand);
  ASSERT_TRUE(on_demand) << on_demand.error().what();
  EXPECT_EQ(to_decimal(on_demand->prices[24]), "4.00") << "the column of its own market";
  EXPECT_EQ(on_demand->changes, 0U);
}

TEST(ListPrice, is_that_of_the_dearest_zone_on_the_terms_asked_for) {
  const CatalogReading catalog = read(
      "InstanceType,AcceleratorName,AcceleratorCount,Region,AvailabilityZone,Price,SpotPrice\n"
      "p4de,A100-80GB,8,us-east-1,us-east-1a,27.45,12.1\n"
      "p4de,A100-80GB,8,us-east-1,us-east-1b,27.45,13.5\n"
      "p4de,A100-80GB,8,eu-west-1,eu-west-1a,31,11\n");
  EXPECT_EQ(to_decimal(list_price(catalog, "p4de", "us-east-1", RentalMarket::on_demand).value()), "27.45");
  EXPECT_EQ(to_decimal(list_price(catalog, "p4de", "us-east-1", RentalMarket::spot).value()), "13.50");
  const auto says = [&](auto price) { return std::string(price.error().what()); };
  EXPECT_THAT(says(price_series(catalog, "p4de", "us-east-1", RentalMarket::spot)), HasSubstr("catalog instead of"));
  EXPECT_THAT(says(list_price(catalog, "p4de", "nowhere", RentalMarket::spot)), HasSubstr("other regions"));
  const CatalogReading sentinel = read(
      "InstanceType,AcceleratorName,AcceleratorCount,Region,AvailabilityZone,Price,SpotPrice\n"
      "x,A100-80GB,8,r,ra,700.0,\n");
  EXPECT_THAT(says(list_price(sentinel, "x", "r", RentalMarket::on_demand)), HasSubstr("line 2"))
      << "why there is none";
}

}  // namespace
}  // namespace ace
