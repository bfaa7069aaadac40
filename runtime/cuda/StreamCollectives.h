//===- StreamCollectives.h - collectives that are work on streams ---------===//
//
// The tables of the model as plans, with this rank's addresses in them, made once.  A
// start is an event on the compute stream that the communication stream waits for,
// copies, the moves between ranks, copies, and an event; a wait is that the compute
// stream waits for this one.
//
// A rank alone has no moves, so for it this is all.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CUDA_STREAMCOLLECTIVES_H
#define BRAID_CUDA_STREAMCOLLECTIVES_H

#include "cuda/CollectivePlan.h"
#include "cuda/DeviceCollectives.h"

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

  // All ranks have come this far; from now on they learn of each other's failures.  One
  // that never begins ends by itself: the job goes on by other means.
  virtual void begin() {}
  // Whether memory that other ranks reach has been registered, which all must do or none.
  virtual bool hasRegistered() const { return false; }
  virtual void unregister() {}

protected:
  // The moves of this collective, on the communication stream; throws Error.
  virtual void exchange(int32_t index);
  // Its end has been recorded.
  virtual void started(int32_t) {}
  // "all_reduce #7 (sum, f32, 4096 elements) over {0, 1}", and the action that starts it.
  std::string describe(int32_t index, const char *action) const;

  int rankNumber() const { return number; }

  // Waits for all that is on the compute stream.
  br_status drain();

  struct EventPair {
    Event begin = Event(), end = Event();
  };
  using SharedEventPair = std::shared_ptr<EventPair>;
  // Events that a capture has recorded cannot be queried, so captures have their own.
  // The others are taken anew at each start: an event that is recorded again no longer
  // shows the end of the previous start, which may still be running.
  struct Collective {
    Operation operation;
    CollectivePlan plan;
    SharedEventPair direct;
    EventPair captured = {};
    bool isCaptured = false; // the last start was
    const char *action = ""; // of the program, at the last start

    const EventPair &eventPair() const { return isCaptured ? captured : *direct; }
  };
  const Collective &collective(int32_t index) const { return collectives[index]; }
  int32_t count() const { return static_cast<int32_t>(collectives.size()); }
  // This rank's group of each kind.
  const std::deque<Group> &ownGroups() const { return groups; }
  cudaStream_t stream() const { return place.streams.communication; }
  std::byte *scratchMemory() const { return scratch.memory; }

private:
  struct Scratch {
    std::byte *memory = nullptr;
    uint64_t bytes = 0;
    ~Scratch();
  };

  void plan(const br_model &model);
  SharedEventPair nextEventPair();

  const int number;                      // of the rank
  std::deque<Group> groups;              // stable addresses
  std::list<SharedEventPair> eventPairs; // all, the most recently used last
  std::vector<Collective> collectives;
  Scratch scratch;
  Event drained;
};

} // namespace braid
#endif // BRAID_CUDA_STREAMCOLLECTIVES_H
