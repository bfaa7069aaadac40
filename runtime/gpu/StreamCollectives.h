//===- StreamCollectives.h - collectives as work on streams ---------------===//
//
// The model's tables as plans with this rank's addresses, made once.  A start records an event on
// the compute stream and makes the communication stream wait for it.  Then it queues copies, the
// moves between ranks, copies again, and a second event.  A wait makes the compute stream wait for
// the second event.
//
// A single rank has no moves, so this class is all that it needs.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_GPU_STREAMCOLLECTIVES_H
#define BRAID_GPU_STREAMCOLLECTIVES_H

#include "gpu/CollectivePlan.h"
#include "gpu/DeviceCollectives.h"

#include <deque>
#include <list>

namespace braid {

class StreamCollectives : public DeviceCollectives {
public:
  StreamCollectives(const br_model &model, const Rank &rank, const DevicePlace &place);
  ~StreamCollectives() override;

  br_status start(int32_t index) final;
  br_status wait(int32_t index) final;
  bool canBeCaptured() const override { return true; }
  const char *name() const override { return ""; }
  uint64_t scratchBytes() const override { return scratch.bytes; }

  // Called when all ranks have come this far; from then on ranks learn of each other's failures.
  // If it is never called, the destructor ends this object alone, and the job goes on over another
  // transport.
  virtual void begin() {}
  // Whether memory that other ranks access has been registered; all ranks must do so, or none.
  virtual bool hasRegistered() const { return false; }
  virtual void unregister() {}

protected:
  // Puts the moves of this collective on the communication stream; throws Error.
  virtual void exchange(int32_t index);
  // Called after the collective's end event has been recorded.
  virtual void started(int32_t) {}
  // Returns "all_reduce #7 (sum, f32, 4096 elements) over {0, 1}", and the action that started it.
  std::string describe(int32_t index, const char *action) const;

  int rankNumber() const { return number; }

  // Waits for all work on the compute stream.
  br_status drain();

  struct EventPair {
    GpuEvent begin = GpuEvent(), end = GpuEvent();
  };
  using SharedEventPair = std::shared_ptr<EventPair>;
  // Events recorded in a capture cannot be queried, so captures have their own pair.  Other starts
  // take a new pair each: recording an event again would lose the end of the previous start, which
  // may still be running.
  struct Collective {
    Operation operation;
    CollectivePlan plan;
    SharedEventPair direct;
    EventPair captured = {};
    bool isCaptured = false; // whether the last start was captured
    const char *action = ""; // program action of the last start

    const EventPair &eventPair() const { return isCaptured ? captured : *direct; }
  };
  const Collective &collective(int32_t index) const { return collectives[index]; }
  int32_t count() const { return static_cast<int32_t>(collectives.size()); }
  // This rank's group of each kind.
  const std::deque<Group> &ownGroups() const { return groups; }
  const GpuStream &stream() const { return place.streams.communication; }
  std::byte *scratchMemory() const { return scratch.memory; }

private:
  struct Scratch {
    std::byte *memory = nullptr;
    uint64_t bytes = 0;
    ~Scratch();
  };

  void plan(const br_model &model);
  SharedEventPair nextEventPair();

  const int number;                      // number of the rank
  std::deque<Group> groups;              // a deque, for stable addresses
  std::list<SharedEventPair> eventPairs; // all pairs, the most recently used last
  std::vector<Collective> collectives;
  Scratch scratch;
  GpuEvent drained;
};

} // namespace braid
#endif // BRAID_GPU_STREAMCOLLECTIVES_H
