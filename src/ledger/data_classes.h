#pragma once
/// The data classes of a fleet's tenants, numbered, so that tables can be built by them.
#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "fleet/fleet.h"

namespace ace {

class DataClasses {
 public:
  /// @param fleet must outlive it
  explicit DataClasses(const Fleet& fleet) {
    for (const Tenant& tenant : fleet.tenants) {
      auto at = std::find(names_.begin(), names_.end(), tenant.data_class);
      if (at == names_.end()) at = names_.insert(at, tenant.data_class);
      of_.push_back(static_cast<std::uint32_t>(at - names_.begin()));
    }
  }
  [[nodiscard]] std::size_t size() const { return names_.size(); }
  [[nodiscard]] std::string_view operator[](std::size_t i) const { return names_[i]; }
  /// Number 0 is for tenants that declare none, and for undeclared ones.
  [[nodiscard]] std::uint32_t of(TenantId tenant) const { return tenant.valid() ? of_[tenant.value] : 0; }

 private:
  std::vector<std::string_view> names_ = {""};
  std::vector<std::uint32_t> of_;  ///< by tenant
};

}  // namespace ace
