#pragma once
/// The file of keys on the disk: read and written only where nobody else can change who may use the gateway.
#include <functional>
#include <string>

#include "core/result.h"
#include "gateway/keys.h"

namespace ace::gateway {

/// @return not_found if there is no file; bad_input for a file that others own or may read or write, saying how to mend
/// it; as KeyRing::read()
Result<KeyRing> load_keys(const std::string& path);

/// Changes the file as a whole: reads it (an absent one has no keys), lets `change` work on it, and puts the result in
/// its place with mode 0600, on the disk when this returns.
/// @return conflict while another process changes it; what `change` says; unavailable
Result<void> change_keys(const std::string& path, const std::function<Result<void>(KeyRing&)>& change);

/// A new key from the system's randomness.
std::string new_key(Role role);

}  // namespace ace::gateway
