//===- HostView.h - a part of the arena, as the host sees it --------------===//
//
// Where the arena is memory of the host, the part itself; elsewhere a copy, which is
// made and written back around its use.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CORE_HOSTVIEW_H
#define BRAID_CORE_HOSTVIEW_H

#include "core/Context.h"

#include <memory>

namespace braid {

// Write: every byte, or what was there is lost.  Update: some.
enum class Use { Read, Write, Update };

// Calls f(std::byte *memory) on `bytes` bytes from `offset`.  What f throws leaves the
// arena as it was where that lies on a device.
template <class F> void onHost(br_context &context, uint64_t offset, uint64_t bytes, Use use, const F &f) {
  if (std::byte *arena = context.hostArena())
    return f(arena + offset);
  const std::unique_ptr<std::byte[]> copy(new std::byte[bytes]);
  if (use != Use::Write)
    context.read(offset, copy.get(), bytes);
  f(copy.get());
  if (use != Use::Read)
    context.write(offset, copy.get(), bytes);
}

} // namespace braid
#endif // BRAID_CORE_HOSTVIEW_H
