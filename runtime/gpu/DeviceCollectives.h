//===- DeviceCollectives.h - collectives of ranks on GPUs -----------------===//
//
// Starts and waits of a program's collectives, by their index in br_model.collectives.  An
// implementation puts them on the communication stream (NcclCollectives), or hands them to a thread
// that copies through the host's memory (StagedCollectives).  One thread, whose current device is
// the rank's, makes, calls and destroys it.
//
// A capture must be limited to the calling thread (ThreadLocal), because runtime threads query
// events meanwhile.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_GPU_DEVICECOLLECTIVES_H
#define BRAID_GPU_DEVICECOLLECTIVES_H

#include "braid_rt.h"
#include "comm/Rank.h"
#include "gpu/DeviceArena.h"
#include "gpu/Streams.h"

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace braid {

// Device and streams of the collectives; the rank's device is current in the calling thread.
struct DevicePlace {
  int device;
  std::byte *arena;
  const Streams &streams;
  std::function<const char *()> action = {}; // name of the program's current action, for messages
  // Called with the first failure, from any thread.
  std::function<void(const std::string &reason)> failed = {};
  // Whether a group of one rank also has a communicator and calls the library, where copies would
  // do.  Used to test the library on a single device.
  bool communicatesAlone = false;
};

class DeviceCollectives {
public:
  explicit DeviceCollectives(const DevicePlace &place) : place(place) {}
  virtual ~DeviceCollectives() = default;

  // Starts the collective after all work that is on the compute stream now.
  virtual br_status start(int32_t index) = 0;
  // Makes later work on the compute stream wait for the collective.
  virtual br_status wait(int32_t index) = 0;

  // Whether starts and waits only put work on streams, so that a graph can hold them.
  virtual bool canBeCaptured() const = 0;

  // Called before and after a call that may block until other ranks arrive: the timeout of a
  // wait applies to it.
  virtual void enter(const char *) {}
  virtual void leave() {}

  // Waits for this event of the compute stream.  Returns BR_ERROR if ranks have died or a timeout
  // has passed, now or earlier.  Then error() gives the reason, the device's results are invalid,
  // and no waiting work is left on a stream.
  virtual br_status synchronize(const GpuEvent &end);

  // The reason why a start, a wait or a synchronize failed; empty if none did.
  virtual const char *error() const;

  // The communicator through the host's memory; null if the device communicates itself.
  virtual br_comm *hostComm() const { return nullptr; }
  // hostComm's ticket of the last start of this collective.
  virtual br_ticket ticketOf(int32_t) const { return {}; }

  // The name of the transport, for messages.
  virtual const char *name() const = 0;
  // Bytes of device memory that it allocated beside the arena.
  virtual uint64_t scratchBytes() const { return 0; }
  // Warnings, one sentence each; only the first rank prints them.
  virtual std::vector<std::string> warnings() const { return {}; }

protected:
  // Keeps the first failure, after which every call fails.  Callable from any thread.
  void noteFailure(const std::string &reason);
  bool hasFailed() const { return failed.load(); }
  // Notes the result of a call; returns BR_ERROR after this or an earlier failure.
  br_status note(const GpuStatus &status);

  const DevicePlace place;

private:
  std::atomic<bool> failed = false;
  mutable std::mutex mutex;
  std::string failure; // set once, before `failed`
};

// Whether a rank captures its programs in graphs where possible.  Follows --cuda-graph; by
// default, yes unless ranks share the process.  NCCL's user guide (Using NCCL with CUDA Graphs):
// "Using multiple GPUs per process with CUDA graph capture may result in deadlocks."
bool wantsGraphs(const Rank &rank);

// Returns the arena's allocator: the vendor's library's, if that may become the rank's transport.  Whether it does
// is known only after it starts, and it needs memory to start.
const DeviceAllocator &arenaAllocator(const br_model &model, const Rank &rank);

// Makes the collectives of the rank's transport.  All ranks call this in the same order.  Throws
// Error if the transport cannot run here.
std::unique_ptr<DeviceCollectives> makeDeviceCollectives(const br_model &model, const Rank &rank,
                                                         const DevicePlace &place);

} // namespace braid
#endif // BRAID_GPU_DEVICECOLLECTIVES_H
