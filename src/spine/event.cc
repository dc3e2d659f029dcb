#include "spine/event.h"

namespace ace::event {

std::string_view name_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::served:
      return "served";
    case Outcome::cache_hit:
      return "cache_hit";
    case Outcome::not_served:
      return "not_served";
    case Outcome::client_abort:
      return "client_abort";
  }
  return "unknown";
}

std::string_view name_of(FixedCost::Kind kind) {
  switch (kind) {
    case FixedCost::Kind::amortization:
      return "amortization";
    case FixedCost::Kind::idle_power:
      return "idle_power";
    case FixedCost::Kind::commitment:
      return "commitment";
    case FixedCost::Kind::rental:
      return "rental";
    case FixedCost::Kind::hosts:
      return "hosts";
  }
  return "unknown";
}

}  // namespace ace::event
