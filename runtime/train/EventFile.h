//===- EventFile.h - metrics as TensorBoard reads them --------------------===//
//
// DIR/events.out.tfevents.SECONDS.HOST.PID: records of TFRecord (length, data, and the masked
// CRC-32C of each), of which each is an Event in protobuf's wire format:
//
//   Event    1: wall_time double   2: step int64   3: file_version string   5: Summary
//            10: SourceMetadata, of the first event
//   SourceMetadata  1: writer string, "braid job=" and whose it is (LogIdentity.h)
//   Summary  1: Value, repeated        Value  1: tag string   2: simple_value float
//
// A start of a job writes a file of its own.  TensorBoard takes all files of a directory for
// one run, so the directory must be that run's.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_TRAIN_EVENTFILE_H
#define BRAID_TRAIN_EVENTFILE_H

#include "train/Metrics.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace braid {

// The checksum of Castagnoli's polynomial, as TFRecord masks it.
uint32_t maskedCrc32c(std::string_view data);

// The event files in a directory, by name; none if it is absent.
std::vector<std::string> eventFiles(const std::string &directory);

// A file in a directory that this job cannot go on with, and why; empty if there is none.
std::string whyNotToGoOnWithEvents(const std::string &directory, const LogIdentity &identity);

class EventFile {
public:
  // An empty path writes nothing.  A job that goes on from a step takes the events of later
  // steps out of its own files, and removes others; another job removes all of them.
  EventFile(const std::string &directory, const LogResume &resume);

  void step(const StepMetrics &m);
  void evaluation(int64_t step, float loss);

private:
  void begin(int64_t step);
  void add(std::string_view tag, double value);
  void write();

  std::optional<File> file;
  std::string event, summary, value, record;
};

} // namespace braid
#endif // BRAID_TRAIN_EVENTFILE_H
