//===- EventFile.cpp - metrics as TensorBoard events ----------------------===//

#include "train/EventFile.h"

#include "base/Error.h"

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <filesystem>
#include <unistd.h>

using namespace braid;
namespace fs = std::filesystem;

//===----------------------------------------------------------------------===//
// Records
//===----------------------------------------------------------------------===//

uint32_t braid::maskedCrc32c(std::string_view data) {
  static constexpr auto table = [] {
    std::array<uint32_t, 256> table{};
    for (uint32_t byte = 0; byte < 256; ++byte) {
      uint32_t crc = byte;
      for (int bit = 0; bit < 8; ++bit)
        crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78u : 0);
      table[byte] = crc;
    }
    return table;
  }();
  uint32_t crc = ~0u;
  for (unsigned char byte : data)
    crc = crc >> 8 ^ table[(crc ^ byte) & 255];
  return std::rotr(~crc, 15) + 0xa282ead8u;
}

namespace {

template <class Number> void putBytes(std::string &out, Number x) {
  out.append(reinterpret_cast<const char *>(&x), sizeof x); // little endian, like all hosts
}

void putVarint(std::string &out, uint64_t x) {
  for (; x >= 128; x >>= 7)
    out += static_cast<char>(x | 128);
  out += static_cast<char>(x);
}

// Wire types of protobuf fields.
enum Wire { kVarint = 0, kEightBytes = 1, kText = 2, kFourBytes = 5 };

void putKey(std::string &out, int field, Wire wire) { out += static_cast<char>(field << 3 | wire); }

void putText(std::string &out, int field, std::string_view text) {
  putKey(out, field, kText);
  putVarint(out, text.size());
  out += text;
}

// Bytes before the data (its length and a checksum) and after it (a checksum) in a record of an event file.
constexpr size_t kHeadBytes = 12, kTailBytes = 4;

// Returns the step of an event that EventFile wrote: the field after the time, or 0 without one.
int64_t stepOf(std::string_view event) {
  if (event.size() < 11 || event[9] != (2 << 3 | kVarint))
    return 0;
  uint64_t step = 0;
  int shift = 0;
  for (size_t at = 10; at < event.size() && shift < 64; ++at, shift += 7) {
    step |= static_cast<uint64_t>(event[at] & 127) << shift;
    if (!(event[at] & 128))
      break;
  }
  return static_cast<int64_t>(step);
}

constexpr std::string_view kWriter = "braid job=";

// Limit of an event's size; EventFile writes no larger event.
constexpr uint64_t maxEventBytes = 16 << 20;

// Calls visit(event) for each complete event until it returns false. Returns the offset of the end of the
// last event that it accepted.
template <class F> uint64_t visitEvents(const File &file, const F &visit) {
  const uint64_t size = file.size();
  uint64_t at = 0;
  std::string event;
  while (at + kHeadBytes + kTailBytes <= size) {
    uint64_t length = 0;
    file.readAt(at, &length, sizeof length);
    if (length > maxEventBytes || length > size - at - kHeadBytes - kTailBytes)
      break;
    event.resize(length);
    file.readAt(at + kHeadBytes, event.data(), length);
    if (!visit(event))
      break;
    at += kHeadBytes + length + kTailBytes;
  }
  return at;
}

// Returns the job identity in the first event of a file, or an empty string without one.
std::string identityIn(const File &file) {
  std::string found;
  visitEvents(file, [&](const std::string &event) {
    if (const size_t at = event.find(kWriter); at != event.npos)
      found = event.substr(at + kWriter.size());
    return false;
  });
  return found;
}

bool isOwn(const std::string &path, const LogIdentity &identity) {
  std::error_code error;
  return fs::is_regular_file(fs::symlink_status(path, error)) &&
         identity.goesOnWith(identityIn(File::openForReading(path)));
}

// Removes the events after a step. Events are ordered by step; the last record may be incomplete.
void cutAfter(const std::string &path, int64_t step) {
  File file = File::openToUpdate(path);
  file.truncate(visitEvents(file, [&](const std::string &event) { return stepOf(event) <= step; }));
}

double wallTime() { return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count(); }

} // namespace

//===----------------------------------------------------------------------===//
// The file
//===----------------------------------------------------------------------===//

std::vector<std::string> braid::eventFiles(const std::string &directory) {
  std::vector<std::string> files;
  std::error_code error;
  for (const fs::directory_entry &entry : fs::directory_iterator(directory, error))
    if (entry.path().filename().string().starts_with("events.out.tfevents."))
      files.push_back(entry.path().string());
  std::sort(files.begin(), files.end());
  return files;
}

std::string braid::reasonNotToContinueEvents(const std::string &directory, const LogIdentity &identity) {
  for (const std::string &path : eventFiles(directory))
    if (!isOwn(path, identity))
      return concat("'", path, "' does not say that this job wrote it");
  return "";
}

EventFile::EventFile(const std::string &directory, const LogResume &resume) {
  if (directory.empty())
    return;
  std::error_code error;
  fs::create_directories(directory, error);
  if (error)
    fail("cannot make the directory '", directory, "': ", error.message());
  for (const std::string &path : eventFiles(directory)) {
    if (resume.step && isOwn(path, resume.identity))
      cutAfter(path, *resume.step);
    else if (!fs::remove(path, error))
      fail("cannot remove '", path, "': ", error.message());
  }
  char host[64] = "host";
  gethostname(host, sizeof host - 1);
  const double now = wallTime();
  std::string source;
  std::string path;
  for (int64_t seconds = static_cast<int64_t>(now); path.empty() || fileExists(path); ++seconds)
    path = concat(directory, "/events.out.tfevents.", seconds, ".", host, ".", getpid());
  file.emplace(File::createPrivate(path));
  file->publish();
  putKey(event, 1, kEightBytes);
  putBytes(event, now);
  putText(event, 3, "brain.Event:2");
  putText(source, 1, concat(kWriter, resume.identity.text()));
  putText(event, 10, source);
  write();
}

void EventFile::begin(int64_t step) {
  event.clear(), summary.clear();
  putKey(event, 1, kEightBytes);
  putBytes(event, wallTime());
  putKey(event, 2, kVarint);
  putVarint(event, static_cast<uint64_t>(step));
}

void EventFile::add(std::string_view tag, double x) {
  value.clear();
  putText(value, 1, tag);
  putKey(value, 2, kFourBytes);
  putBytes(value, static_cast<float>(x));
  putText(summary, 1, value);
}

void EventFile::write() {
  record.clear();
  putBytes(record, static_cast<uint64_t>(event.size()));
  putBytes(record, maskedCrc32c(record));
  record += event;
  putBytes(record, maskedCrc32c(event));
  file->write(record.data(), record.size());
}

void EventFile::step(const StepMetrics &m) {
  if (!file)
    return;
  begin(m.step);
  add("loss", m.loss);
  add("lr", m.lr);
  if (m.gradNorm)
    add("grad_norm", *m.gradNorm);
  add("tokens_per_second", static_cast<double>(m.tokens) / std::max(m.seconds, 1e-9));
  if (m.noise)
    add("noise_scale", m.noise->scale);
  for (const Measurement &measured : m.measurements)
    add(measured.name, measured.value);
  putText(event, 5, summary);
  write();
}

void EventFile::evaluation(int64_t step, float loss) {
  if (!file)
    return;
  begin(step);
  add("eval_loss", loss);
  putText(event, 5, summary);
  write();
}
