#pragma once
/// 128-bit integers, a compiler extension, named in one place.

namespace ace {

__extension__ typedef __int128 int128;
__extension__ typedef unsigned __int128 uint128;

}  // namespace ace
