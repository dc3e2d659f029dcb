#pragma once
/// Puts an answer of the simulated provider on the wire, at its pace and with its faults.
#include <string>
#include <vector>

#include "net/exchange.h"
#include "simulated/answer.h"
#include "simulated/script.h"

namespace ace::simulated {

/// Of one exchange. Everything handed in outlives it.
class Sending {
 public:
  /// @param fields  lines of the head, without the type of the content
  Sending(net::Exchange& exchange, const Plan& plan, std::string fields);

  void add_fields(std::string_view lines) { fields_ += lines; }

  /// What meets a request at this place. @return whether the exchange is over with it
  net::Task<bool> reach(Place place);
  /// Waits until then. @return false if the client went away meanwhile
  net::Task<bool> until(net::Steady due);

  net::Task<> whole(int status, std::string_view type, std::string_view body, net::Steady due);
  /// @param first  when the first token is due  @param pace  from one to the next
  net::Task<> stream(const std::vector<Event>& events, net::Steady first, Duration pace, wire::Dialect dialect);

  [[nodiscard]] bool gone() const { return gone_; }
  [[nodiscard]] int status() const { return status_; }
  [[nodiscard]] std::int64_t tokens_sent() const { return tokens_sent_; }

 private:
  net::Task<bool> head(int status, std::string_view type, std::optional<std::uint64_t> length);
  net::Task<bool> send(std::string_view bytes);
  net::Task<bool> event(const Event& event, bool named);

  net::Exchange& exchange_;
  const Plan& plan_;
  std::string fields_;
  net::Cancel::Subscription subscription_;
  int status_ = 0;
  std::int64_t tokens_sent_ = 0;
  bool gone_ = false;
};

}  // namespace ace::simulated
