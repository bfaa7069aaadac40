//===- DeviceCollectives.h - how ranks on GPUs talk -----------------------===//
//
// Starts and waits of a program's collectives, by their places in
// br_model.collectives.  An implementation puts them on the communication stream
// (NcclCollectives), or hands them to a thread that copies through the host's memory
// (StagedCollectives).  One thread, whose current device is the rank's, makes, calls
// and destroys it.
//
// In a capture, which must be of the calling thread alone (ThreadLocal): threads of
// ours ask for events meanwhile.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CUDA_DEVICECOLLECTIVES_H
#define BRAID_CUDA_DEVICECOLLECTIVES_H

#include "braid_rt.h"
#include "comm/Rank.h"
#include "cuda/DeviceArena.h"
#include "cuda/Streams.h"

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace braid {

// What they run in: the rank's device is current in the calling thread.
struct DevicePlace {
  int device;
  std::byte *arena;
  const Streams &streams;
  std::function<const char *()> action = {}; // what the program is doing, for messages
  // Told of the first failure, by any thread.
  std::function<void(const std::string &reason)> failed = {};
  // Whether a group of one rank has a communicator and calls the library, too, where copies would
  // do: for checks of the library on a single device.
  bool communicatesAlone = false;
};

class DeviceCollectives {
public:
  explicit DeviceCollectives(const DevicePlace &place) : place(place) {}
  virtual ~DeviceCollectives() = default;

  // What is on the compute stream by now comes before the collective.
  virtual br_status start(int32_t index) = 0;
  // What is put on the compute stream from now on comes after it.
  virtual br_status wait(int32_t index) = 0;

  // Whether starts and waits do nothing but put work on streams, so that a CUDA graph
  // can hold them.
  virtual bool canBeCaptured() const = 0;

  // Around a call of CUDA's that may block until other ranks have come: time passes for it
  // as for a wait.
  virtual void enter(const char *) {}
  virtual void leave() {}

  // Waits for this event of the compute stream.  BR_ERROR when ranks have died or time
  // passed, before or now: then error() says why, what the device has computed is
  // worthless, and nothing that waits is left on a stream.
  virtual br_status synchronize(cudaEvent_t end);

  // Why a start, a wait or a synchronize failed; empty when none did.
  virtual const char *error() const;

  // What carries them through the host's memory; null where the device itself does.
  virtual br_comm *hostComm() const { return nullptr; }
  // Its number of what was started last.
  virtual br_ticket ticketOf(int32_t) const { return {}; }

  // The name of the transport, for people.
  virtual const char *name() const = 0;
  // Memory of the device beside the arena that it has taken itself.
  virtual uint64_t scratchBytes() const { return 0; }
  // What people would not expect, a sentence each: the first rank's are printed.
  virtual std::vector<std::string> warnings() const { return {}; }

protected:
  // The first failure stays, and with it everything fails.  Any thread.
  void noteFailure(const std::string &reason);
  bool hasFailed() const { return failed.load(); }
  // What a call of CUDA's gave: BR_ERROR after this or an earlier failure.
  br_status note(cudaError_t code, const char *call);

  const DevicePlace place;

private:
  std::atomic<bool> failed = false;
  mutable std::mutex mutex;
  std::string failure; // set once, before `failed`
};

// Whether a rank captures its programs in CUDA graphs where it can: as it was told, else
// unless it shares its process with others.  NCCL's user guide (Using NCCL with CUDA
// Graphs): "Using multiple GPUs per process with CUDA graph capture may result in
// deadlocks."
bool wantsGraphs(const Rank &rank);

// Who gives the arena: NCCL where it may be the rank's transport, which is known only when it has
// started, with memory.
const DeviceAllocator &arenaAllocator(const br_model &model, const Rank &rank);

// Makes those of the rank's transport.  Every rank does so in the same order.  Throws
// Error when the transport cannot run here.
std::unique_ptr<DeviceCollectives> makeDeviceCollectives(const br_model &model, const Rank &rank,
                                                         const DevicePlace &place);

} // namespace braid
#endif // BRAID_CUDA_DEVICECOLLECTIVES_H
