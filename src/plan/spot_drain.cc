#include "plan/spot_drain.h"

#include <algorithm>

namespace ace {

Drain drain(Duration lead, std::span<const DrainItem> items) {
  Drain plan;
  for (const DrainItem& item : items) {
    if (item.left <= lead) {
      plan.actions.push_back(DrainAction::finish);
      plan.done = std::max(plan.done, item.left);
    } else if (item.hand_over >= Duration{} && item.hand_over <= lead && item.cost_of_hand_over < item.at_stake) {
      plan.actions.push_back(DrainAction::hand_over);
      plan.lost += item.cost_of_hand_over;
      plan.done = std::max(plan.done, item.hand_over);
    } else {
      plan.actions.push_back(DrainAction::lose);
      plan.lost += item.at_stake;
    }
  }
  return plan;
}

}  // namespace ace
