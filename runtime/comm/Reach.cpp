//===- Reach.cpp - how ranks reach each other before their devices do -----===//

#include "comm/Reach.h"

#include "base/Error.h"
#include "base/Format.h"

#include <algorithm>
#include <cstring>

using namespace braid;

//===----------------------------------------------------------------------===//
// Words
//===----------------------------------------------------------------------===//

// Words end to end, each after its length.
static std::string join(const std::vector<std::string> &words) {
  std::string text;
  for (const std::string &word : words) {
    uint64_t size = word.size();
    text.append(reinterpret_cast<const char *>(&size), sizeof size);
    text += word;
  }
  return text;
}

static std::vector<std::string> split(const std::string &text) {
  std::vector<std::string> words;
  for (size_t at = 0; at + sizeof(uint64_t) <= text.size();) {
    uint64_t size = 0;
    std::memcpy(&size, text.data() + at, sizeof size);
    at += sizeof size;
    words.push_back(text.substr(at, size));
    at += size;
  }
  return words;
}

void NewsBoard::put(const std::string &topic, const std::string &text) {
  std::lock_guard lock(mutex);
  news.emplace(topic, text);
}

std::string NewsBoard::read(const std::string &topic) const {
  std::lock_guard lock(mutex);
  auto found = news.find(topic);
  return found == news.end() ? "" : found->second;
}

//===----------------------------------------------------------------------===//
// Reach
//===----------------------------------------------------------------------===//

static Clock::time_point deadlineAfter(double seconds) {
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

Reach::Reach(ReachOptions options) : options(std::move(options)), settled(this->options.wanted) {}

// Others may still ask why this rank has failed, of whoever serves the store.
Reach::~Reach() {
  communicator.reset();
  std::lock_guard lock(storeMutex);
  try {
    if (store)
      store->waitForOthers(deadlineAfter(1));
  } catch (const Error &) { // nobody is left to ask
  }
}

bool Reach::usesStore() const {
  bool needsNoComm = options.wanted == "auto" || options.wanted == "nccl";
  return !isOneProcess() && needsNoComm && !options.joining.rendezvous.empty();
}

Store &Reach::openedStore() {
  if (!store)
    store = openStore(options.joining.rendezvous, options.joining.job, options.joining.rank,
                      deadlineAfter(options.joining.timeout));
  return *store;
}

std::vector<std::string> Reach::tellAll(const std::string &word) {
  std::vector<std::string> words = usesStore() ? tellOverStore(word) : tellOverComm(word);
  if (static_cast<int>(words.size()) != options.joining.size)
    fail("rank ", options.joining.rank, " of ", options.joining.size, " has heard ", words.size(),
         " ranks; all must be started by the same command");
  return words;
}

// The value of a key that rank `from` sets.
std::string Reach::awaitWord(const std::string &key, int from, Clock::time_point deadline) {
  while (true) {
    {
      std::lock_guard lock(storeMutex);
      auto moment = std::min(deadline, Clock::now() + std::chrono::milliseconds(50));
      if (std::optional<std::string> value = openedStore().await(key, moment))
        return *value;
    }
    if (std::string failure = news("failure"); !failure.empty())
      throw RankError(failure);
    if (Clock::now() >= deadline)
      fail("after ", formatExact(timeout()), " s rank ", options.joining.rank, " of ", options.joining.size,
           " waits at '", options.joining.rendezvous, "' for rank ", from, ", which has not come");
  }
}

// Rank 0 collects the words and leaves them all in one place: a question and an answer
// a rank, whatever their number.
std::vector<std::string> Reach::tellOverStore(const std::string &word) {
  const Joining &own = options.joining;
  Clock::time_point deadline = deadlineAfter(own.timeout);
  const std::string question = concat("words-", questions++, "/");
  auto set = [&](const std::string &key, const std::string &value) {
    std::lock_guard lock(storeMutex);
    if (openedStore().find(key))
      fail("another job has left words at '", own.rendezvous, "'; give each a place of its own");
    store->set(key, value);
  };
  if (own.rank != 0) {
    set(concat(question, own.rank), word);
    return split(awaitWord(question + "all", 0, deadline));
  }
  std::vector<std::string> words = {word};
  for (int rank = 1; rank < own.size; ++rank)
    words.push_back(awaitWord(concat(question, rank), rank, deadline));
  set(question + "all", join(words));
  return words;
}

static void gather(br_comm &comm, br_dtype dtype, const void *own, void *all, int64_t each) {
  br_segment segment = {own, all, each * comm.size(), 1, 1};
  comm.wait(comm.start({BR_ALL_GATHER, BR_SUM, dtype, 0, 0, nullptr, 0, &segment, 1}));
}

// Lengths first, then words of the greatest length.
std::vector<std::string> Reach::tellOverComm(const std::string &word) {
  br_comm &ranks = comm();
  std::vector<int64_t> sizes(ranks.size());
  int64_t size = static_cast<int64_t>(word.size());
  gather(ranks, BR_I64, &size, sizes.data(), 1);
  int64_t most = *std::max_element(sizes.begin(), sizes.end());
  std::string padded = word, all(most * ranks.size(), '\0');
  padded.resize(most);
  gather(ranks, BR_I1, padded.data(), all.data(), most);
  std::vector<std::string> words;
  for (int rank = 0; rank < ranks.size(); ++rank)
    words.push_back(all.substr(rank * most, sizes[rank]));
  return words;
}

void Reach::tellNews(const std::string &topic, const std::string &text) noexcept {
  if (options.board)
    return options.board->put(topic, text);
  if (!usesStore())
    return;
  try {
    std::lock_guard lock(storeMutex);
    if (store && !store->find("news-" + topic))
      store->set("news-" + topic, text);
  } catch (const std::exception &) { // a store that is gone has no news
  }
}

std::string Reach::news(const std::string &topic) noexcept {
  if (options.board)
    return options.board->read(topic);
  if (!usesStore())
    return "";
  try {
    std::lock_guard lock(storeMutex);
    // Every rank asks again and again, of one server: once a second is enough.
    Clock::time_point now = Clock::now();
    auto [last, isFirst] = asked.try_emplace(topic, now);
    if (!store || (!isFirst && now - last->second < std::chrono::seconds(1)))
      return "";
    last->second = now;
    return store->find("news-" + topic).value_or("");
  } catch (const std::exception &) {
    return "";
  }
}

void Reach::abandon() noexcept {
  if (options.host == "mpi" && settled == "nccl")
    (void)communicator.release(); // its thread ends with the process
}

br_comm &Reach::comm() {
  if (communicator)
    return *communicator;
  const Joining &own = options.joining;
  TransportFactory factory = options.threads;
  if (!factory) {
    Joining joining = own;
    joining.store = store; // its place may be taken, by this very rank
    factory = findTransport(options.host)(joining);
  }
  communicator = std::make_unique<br_comm>(wrap ? wrap(factory) : factory, own.timeout);
  if (communicator->size() != own.size || communicator->rank() != own.rank)
    fail("rank ", own.rank, " of ", own.size, " is rank ", communicator->rank(), " of ", communicator->size(), " of ",
         options.host, "; all must be started by the same command");
  return *communicator;
}
