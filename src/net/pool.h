#pragma once
/// The connections to one origin: kept ones, those in use, and who waits for one.
#include <list>
#include <memory>
#include <vector>

#include "net/client.h"
#include "net/inbox.h"
#include "net/resolver.h"

namespace ace::net {

class Pool;

/// A connection to an origin. Counts in its pool from connecting to closing.
struct Link {
  Link(std::shared_ptr<Pool> p, std::unique_ptr<Stream> s, const ClientOptions& options)
      : pool(std::move(p)), stream(std::move(s)), inbox(*stream, 16 * 1024, options.limits.head_bytes + 16 * 1024) {
    stream->set_write_stall(options.write_stall);
  }
  std::shared_ptr<Pool> pool;
  std::unique_ptr<Stream> stream;
  Inbox inbox;
  std::unique_ptr<Timer> idle;
  bool used_before = false;
};
/// Closes a connection that is no longer wanted and frees it once nothing is under way on it.
Detached bury(std::unique_ptr<Link> link);

class Pool : public std::enable_shared_from_this<Pool> {
 public:
  Pool(Loop& loop, Origin origin, const ClientOptions& options, Resolver& resolver);

  struct Got {
    std::unique_ptr<Link> link;  ///< null with a fault
    SendFault fault = SendFault::none;
  };
  /// A kept connection, else a new one, else the turn in the queue.
  Task<Got> acquire(Steady deadline, Cancel& cancel);
  /// Keeps a connection on which nothing is under way.
  void keep(std::unique_ptr<Link> link);
  /// A connection has been closed, or was never made.
  void closed();
  void close_kept();

  [[nodiscard]] const Origin& origin() const { return origin_; }
  [[nodiscard]] std::size_t open() const { return open_; }
  [[nodiscard]] std::size_t kept() const { return kept_.size(); }

 private:
  struct Turn;
  Task<Got> connect(Steady deadline, Cancel& cancel);
  std::unique_ptr<Link> take_kept();
  void drop_kept(Link* link);
  void wake();
  [[nodiscard]] bool allows(const Ip& ip) const;

  Loop* loop_;
  Origin origin_;
  const ClientOptions* options_;
  Resolver* resolver_;
  std::vector<std::unique_ptr<Link>> kept_;  ///< the one used last at the end: it is used next
  std::list<Turn*> waiting_;
  std::size_t open_ = 0;
};

}  // namespace ace::net
