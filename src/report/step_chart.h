#pragma once
/// The supply curve as the step chart of a power market: cumulative capacity to the right, marginal cost upwards.
#include <optional>
#include <string>

#include "dispatch/dispatch.h"

namespace ace {

/// One SVG document with its own styles, light and dark. Tiers have their colours; what lies between a knee and its cap
/// is paler. With a load: the load line and the price where it cuts the curve.
/// @param load tokens per second
std::string step_chart_svg(const Snapshot& fleet, const SupplyCurve& curve, std::optional<double> load);

}  // namespace ace
