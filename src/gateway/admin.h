#pragma once
/// The admin API: what an operator sees and moves, on a listener of its own. docs/ADMIN.md has it for people,
/// GET /openapi.json for programs.
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gateway/key_book.h"
#include "gateway/limits.h"
#include "gateway/metrics.h"
#include "gateway/steering.h"
#include "net/exchange.h"

namespace ace::gateway {

struct AdminOptions {
  /// Whoever reaches the listener may use it. For loopback alone; else an admin key (ace_ak_...) is asked for.
  bool open = false;
  std::string version;  ///< of ACE
};

/// Serves one loop. Requests that a web page of another origin could cause are refused whatever they ask for.
class Admin final : public net::Handler {
 public:
  /// All outlive it. @param keys null: there is no file of keys, so none can be made or asked for
  Admin(const AdminOptions& options, Steering& steering, KeyBook* keys, const Limits& limits,
        const MetricRegistry& metrics);
  ~Admin() override;
  net::Task<> serve(net::Exchange& exchange) override;

  struct Asked;   ///< a request, as far as a route needs it
  struct Answer;  ///< what it gets
  struct Route;
  /// All that is served.
  static const std::vector<Route>& routes();
  /// OpenAPI 3.1, made of the routes.
  static std::string openapi(std::string_view version);

 private:
  [[nodiscard]] std::optional<Answer> keep_out(const net::Exchange& exchange, const Route* route) const;

  AdminOptions options_;
  Steering& steering_;
  KeyBook* keys_;
  const Limits& limits_;
  const MetricRegistry& metrics_;
};

}  // namespace ace::gateway
