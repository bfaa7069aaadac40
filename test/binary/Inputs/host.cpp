// host.cpp - a caller of braid/step.h, for tests.
//   host train LIB TOKENS STEPS METRICS [SAVE] [LOAD]   trains on windows of 16-bit tokens in order
//   host two LIB TOKENS STEPS                           two libraries in turns, and from two threads
//   host errors LIB TOKENS                              what is refused
//   host arguments LIB                                  null pointers, unknown enumerators and wrong numbers
//   host threads LIB N                                  a step of so many threads
//   host fork LIB                                       a step in a forked child
//   host forward LIB                                    outputs
//   host tensors LIB                                    values of tensors, in and out
// Compiled with the sources of a model and -DBRAID_LIBRARY, it hosts that model, and LIB is empty.
#include <braid/step.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fstream>
#include <iterator>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

struct Library {
  explicit Library(const std::string &path)
      : handle(dlopen(path.empty() ? nullptr : path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    if (!handle)
      std::printf("%s\n", dlerror()), std::exit(1);
  }
  void *handle;
};

#ifdef BRAID_LIBRARY // linked with one, whatever the path
#define CALL(library, name) (&name)
#else
#define CALL(library, name) reinterpret_cast<decltype(&name)>(dlsym((library).handle, #name))
#endif

struct Model {
  Model(const std::string &path) : library(path) {
    braid_options options = {};
    options.version = BRAID_STEP_VERSION;
    options.threads = 1;
    options.timeout = 20;
    check(CALL(library, braid_create)(&options, &step));
    for (int32_t i = 0; i < CALL(library, braid_input_count)(step); ++i)
      check(CALL(library, braid_get_input)(step, i, &inputs.emplace_back()));
    check(CALL(library, braid_describe)(&facts));
    check(CALL(library, braid_get_state)(step, &state));
  }
  ~Model() { CALL(library, braid_destroy)(step); }
  Model(const Model &) = delete;

  void check(braid_status status) const {
    if (status == BRAID_OK)
      return;
    std::fprintf(stderr, "error: %s\n", CALL(library, braid_error)());
    std::exit(1);
  }
  void refused(const char *call, braid_status status) const {
    std::printf("%s: %s\n", call, status == BRAID_OK ? "accepted" : CALL(library, braid_error)());
  }

  // The tokens of a microbatch of all ranks, shifted for targets; ranks of odd number cut their own part.
  void set(const std::vector<uint16_t> &data, const braid_input &input, int64_t number, int32_t microbatch) const {
    const int64_t rows = input.shape[0], length = input.shape[1], windows = (int64_t(data.size()) - 1) / length;
    const bool isOwn = state.rank % 2;
    const int64_t first = isOwn ? input.begin[0] : 0, count = isOwn ? input.extent[0] : rows;
    const int64_t begin = isOwn ? input.begin[1] : 0, width = isOwn ? input.extent[1] : length;
    std::vector<int64_t> values;
    for (int64_t row = first; row < first + count; ++row)
      for (int64_t i = begin; i < begin + width; ++i)
        values.push_back(data[((number * facts.microbatches + microbatch) * rows + row) % windows * length + i +
                              (std::string(input.role) == "targets")]);
    check(CALL(library, braid_set_input)(step, input.name, microbatch, BRAID_I64, values.data(),
                                         isOwn ? BRAID_OWN_PART : BRAID_WHOLE));
  }
  float train(const std::vector<uint16_t> &data) {
    check(CALL(library, braid_get_state)(step, &state));
    for (const braid_input &input : inputs)
      for (int32_t i = 0; i < facts.microbatches; ++i)
        set(data, input, state.step, i);
    braid_result result;
    check(CALL(library, braid_train)(step, 1e-3f, &result));
    return result.loss;
  }

  Library library;
  braid_step *step = nullptr;
  braid_model facts;
  braid_state state;
  std::vector<braid_input> inputs;
};

std::vector<uint16_t> readTokens(const char *path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<char> bytes((std::istreambuf_iterator<char>(file)), {});
  std::vector<uint16_t> tokens(bytes.size() / 2);
  std::memcpy(tokens.data(), bytes.data(), 2 * tokens.size());
  return tokens;
}

int train(int argc, char **argv) {
  Model model(argv[2]);
  const std::vector<uint16_t> data = readTokens(argv[3]);
  if (argc > 7)
    model.check(CALL(model.library, braid_load)(model.step, argv[7]));
  FILE *metrics = model.state.rank == 0 ? std::fopen(argv[5], "w") : nullptr;
  for (int i = 0; i < std::atoi(argv[4]); ++i) {
    const float loss = model.train(data);
    if (metrics && std::fflush(metrics) == 0)
      std::fprintf(metrics, "{\"step\":%lld,\"loss\":%.17g}\n", (long long)(model.state.step + 1), double(loss));
  }
  if (metrics)
    std::fclose(metrics);
  const char *path = nullptr;
  if (argc > 6)
    model.check(CALL(model.library, braid_save)(model.step, argv[6], 2, &path));
  if (path && model.state.rank == 0)
    std::printf("saved %s\n", path);
  return 0;
}

// Two models of one process, each with its own memory; the second is used from another thread.
int two(char **argv) {
  Model one(argv[2]), other(argv[3]);
  const std::vector<uint16_t> data = readTokens(argv[4]);
  for (int i = 0; i < std::atoi(argv[5]); ++i) {
    const float loss = one.train(data);
    float otherLoss = 0;
    std::thread([&] { otherLoss = other.train(data); }).join();
    std::printf("%.9g %.9g\n", double(loss), double(otherLoss));
  }
  return 0;
}

int errors(char **argv) {
  Model model(argv[2]);
  const Library &library = model.library;
  braid_result result;
  float loss;
  model.refused("unset", CALL(library, braid_train)(model.step, 1e-3f, &result));
  std::vector<int64_t> values(model.inputs[0].shape[0] * model.inputs[0].shape[1]);
  const auto set = [&](const char *name, int32_t microbatch, braid_type type, const void *data) {
    return CALL(library, braid_set_input)(model.step, name, microbatch, type, data, BRAID_WHOLE);
  };
  model.refused("name", set("token", 0, BRAID_I64, values.data()));
  model.refused("microbatch", set(model.inputs[0].name, 7, BRAID_I64, values.data()));
  model.refused("type", set(model.inputs[0].name, 0, BRAID_F64, values.data()));
  values[3] = 100000;
  model.refused("index", set(model.inputs[0].name, 0, BRAID_I64, values.data()));
  values[3] = int64_t(1) << 40;
  model.refused("number", set(model.inputs[0].name, 0, BRAID_I64, values.data()));
  model.refused("accumulate", CALL(library, braid_accumulate)(model.step));
  model.refused("forward", CALL(library, braid_forward)(model.step));
  model.refused("load", CALL(library, braid_load)(model.step, "/nowhere"));
  model.refused("save", CALL(library, braid_save)(model.step, "/proc/nowhere", 1, nullptr));
  model.refused("tensor", CALL(library, braid_read_tensor)(model.step, "nothing", BRAID_F32, values.data()));
  braid_options options = {};
  braid_step *other;
  model.refused("version", CALL(library, braid_create)(&options, &other));
  options.version = BRAID_STEP_VERSION, options.ranks = 3, options.rank = 1;
  model.refused("ranks", CALL(library, braid_create)(&options, &other));
  // None of it has changed the model.
  std::printf("loss %.9g\n", double(model.train(readTokens(argv[3]))));
  model.check(CALL(library, braid_evaluate)(model.step, &loss));
  std::printf("evaluated %.9g\n", double(loss));
  return 0;
}

void nullPointers(const Model &model) {
  const Library &library = model.library;
  const auto count = [&](const char *call, int32_t number) {
    std::printf("%s: %d, %s\n", call, number, CALL(library, braid_error)());
  };
  const char *name;
  float value = 0;
  model.refused("describe", CALL(library, braid_describe)(nullptr));
  model.refused("create", CALL(library, braid_create)(nullptr, nullptr));
  model.refused("no step", CALL(library, braid_get_state)(nullptr, nullptr));
  model.refused("state", CALL(library, braid_get_state)(model.step, nullptr));
  model.refused("get tensor", CALL(library, braid_get_tensor)(model.step, 0, nullptr));
  model.refused("write", CALL(library, braid_write_tensor)(model.step, nullptr, BRAID_F32, &value));
  model.refused("read", CALL(library, braid_read_tensor)(model.step, "w", BRAID_F32, nullptr));
  model.refused("renew", CALL(library, braid_renew_copies)(nullptr));
  model.refused("get input", CALL(library, braid_get_input)(model.step, 0, nullptr));
  model.refused("set input", CALL(library, braid_set_input)(model.step, "x", 0, BRAID_F32, nullptr, BRAID_WHOLE));
  model.refused("accumulate", CALL(library, braid_accumulate)(nullptr));
  model.refused("train", CALL(library, braid_train)(nullptr, 1e-3f, nullptr));
  model.refused("evaluate", CALL(library, braid_evaluate)(model.step, nullptr));
  model.refused("forward", CALL(library, braid_forward)(nullptr));
  model.refused("scalar", CALL(library, braid_get_scalar)(model.step, 0, &name, nullptr));
  model.refused("get output", CALL(library, braid_get_output)(model.step, 0, nullptr));
  model.refused("save", CALL(library, braid_save)(model.step, nullptr, 0, nullptr));
  model.refused("load", CALL(library, braid_load)(model.step, nullptr));
  model.refused("load weights", CALL(library, braid_load_weights)(model.step, nullptr));
  count("tensors", CALL(library, braid_tensor_count)(nullptr));
  count("inputs", CALL(library, braid_input_count)(nullptr));
  count("scalars", CALL(library, braid_scalar_count)(nullptr));
  count("outputs", CALL(library, braid_output_count)(nullptr));
  CALL(library, braid_destroy)(nullptr);
}

void wrongOptions(const Model &model) {
  const auto create = [&](const char *name, const auto &change) {
    braid_options options = {};
    options.version = BRAID_STEP_VERSION, options.threads = 1;
    change(options);
    braid_step *step = nullptr;
    model.refused(name, CALL(model.library, braid_create)(&options, &step));
    CALL(model.library, braid_destroy)(step);
  };
  create("ranks", [](braid_options &o) { o.ranks = -1; });
  create("rank alone", [](braid_options &o) { o.rank = 5; });
  create("rank", [](braid_options &o) { o.ranks = 1, o.rank = 1; });
  create("local ranks", [](braid_options &o) { o.ranks = 1, o.local_ranks = 2; });
  create("local rank", [](braid_options &o) { o.ranks = 1, o.local_rank = 1; });
  create("few threads", [](braid_options &o) { o.threads = -3; });
  create("many threads", [](braid_options &o) { o.threads = 100000; });
  create("device", [](braid_options &o) { o.device = -1; });
  create("timeout", [](braid_options &o) { o.timeout = -1; });
  create("timeout NaN", [](braid_options &o) { o.timeout = NAN; });
}

int arguments(char **argv) {
  Model model(argv[2]);
  const Library &library = model.library;
  nullPointers(model);
  wrongOptions(model);
  const std::vector<double> values(1 << 20);
  for (int type : {7, 42, -1}) {
    const braid_type unknown = static_cast<braid_type>(type);
    model.refused("set input", CALL(library, braid_set_input)(model.step, model.inputs[0].name, 0, unknown,
                                                              values.data(), BRAID_WHOLE));
    model.refused("write tensor", CALL(library, braid_write_tensor)(model.step, "w", unknown, values.data()));
    std::vector<double> read(values);
    model.refused("read tensor", CALL(library, braid_read_tensor)(model.step, "w", unknown, read.data()));
  }
  model.refused("extent", CALL(library, braid_set_input)(model.step, model.inputs[0].name, 0, BRAID_F32, values.data(),
                                                         static_cast<braid_extent>(7)));
  for (float rate : {NAN, INFINITY, -1.0f})
    model.refused("rate", CALL(library, braid_train)(model.step, rate, nullptr));
  model.refused("keep", CALL(library, braid_save)(model.step, "/nowhere", -1, nullptr));
  // A correct call still works.
  for (const braid_input &input : model.inputs)
    model.check(CALL(library, braid_set_input)(model.step, input.name, 0, BRAID_F64, values.data(), BRAID_WHOLE));
  model.refused("good", CALL(library, braid_train)(model.step, 0, nullptr));
  return 0;
}

int threads(char **argv) {
  const Library library(argv[2]);
  braid_options options = {};
  options.version = BRAID_STEP_VERSION, options.threads = std::atoi(argv[3]);
  braid_step *step = nullptr;
  const braid_status status = CALL(library, braid_create)(&options, &step);
  std::printf("threads: %s\n", status == BRAID_OK ? "created" : CALL(library, braid_error)());
  CALL(library, braid_destroy)(step);
  return 0;
}

// Trains in a child, and in a child of that one, after this process has used its threads.
int forkedSteps(const Library &library, int generations) {
  const unsigned seconds = 60; // a deadlock ends the process
  alarm(seconds);
  braid_options options = {};
  options.version = BRAID_STEP_VERSION, options.threads = 2;
  braid_step *step = nullptr;
  const std::vector<double> values(1 << 20, 0.5);
  if (CALL(library, braid_create)(&options, &step) != BRAID_OK)
    return std::printf("%s\n", CALL(library, braid_error)()), 1;
  const auto train = [&] {
    braid_result result = {};
    for (int32_t i = 0; i < CALL(library, braid_input_count)(step); ++i) {
      braid_input input;
      CALL(library, braid_get_input)(step, i, &input);
      CALL(library, braid_set_input)(step, input.name, 0, BRAID_F64, values.data(), BRAID_WHOLE);
    }
    const braid_status status = CALL(library, braid_train)(step, 1e-3f, &result);
    std::printf("%d left: %s %.9g\n", generations, status ? "failed" : "loss", double(result.loss));
  };
  train();
  std::fflush(stdout);
  if (generations == 0)
    return 0;
  const pid_t child = fork();
  if (child == 0)
    _exit(forkedSteps(library, generations - 1));
  int status = 0;
  waitpid(child, &status, 0);
  train(); // the parent goes on
  CALL(library, braid_destroy)(step);
  std::fflush(stdout);
  return status != 0;
}

int64_t elementsOf(const braid_tensor &tensor) {
  int64_t count = 1;
  for (int32_t i = 0; i < tensor.rank; ++i)
    count *= tensor.shape[i];
  return count;
}

int tensors(char **argv) {
  Model model(argv[2]);
  const Library &library = model.library;
  const auto read = [&](const char *name, int64_t count) {
    std::vector<float> values(count);
    model.check(CALL(library, braid_read_tensor)(model.step, name, BRAID_F32, values.data()));
    return values;
  };
  int parameters = 0, copies = 0;
  for (int32_t i = 0; i < CALL(library, braid_tensor_count)(model.step); ++i) {
    braid_tensor tensor;
    model.check(CALL(library, braid_get_tensor)(model.step, i, &tensor));
    if (tensor.category != BRAID_PARAMETER)
      continue;
    const int64_t count = elementsOf(tensor);
    std::vector<float> values(count);
    for (int64_t k = 0; k < count; ++k)
      values[k] = float(k % 128) - 64; // exact in bf16
    if (tensor.copy_of) {              // a write to the parameter reaches its copies
      model.check(CALL(library, braid_write_tensor)(model.step, tensor.copy_of, BRAID_F32, values.data()));
      copies += read(tensor.name, count) == values;
      continue;
    }
    model.check(CALL(library, braid_write_tensor)(model.step, tensor.name, BRAID_F32, values.data()));
    bool isSame = read(tensor.name, count) == values && tensor.is_whole;
    // The same through the strides of the description, where the memory is f32.
    for (int64_t k = 0; k < count && tensor.type == BRAID_F32 && tensor.on_host; ++k) {
      int64_t place = 0;
      for (int32_t dim = tensor.rank - 1, rest = k; dim >= 0; rest /= tensor.shape[dim--])
        place += rest % tensor.shape[dim] * tensor.stride[dim];
      float &element = static_cast<float *>(tensor.data)[place];
      isSame &= element == values[k];
      element = 2; // for the copies
    }
    parameters += isSame;
  }
  std::printf("%d parameters and %d copies are as written\n", parameters, copies);
  model.check(CALL(library, braid_renew_copies)(model.step));
  int renewed = 0;
  for (int32_t i = 0; i < CALL(library, braid_tensor_count)(model.step); ++i) {
    braid_tensor tensor;
    model.check(CALL(library, braid_get_tensor)(model.step, i, &tensor));
    if (tensor.copy_of && tensor.category == BRAID_PARAMETER)
      renewed += read(tensor.name, elementsOf(tensor)) == read(tensor.copy_of, elementsOf(tensor));
  }
  std::printf("%d copies renewed\n", renewed);
  return 0;
}

// Outputs of the whole batch, on every rank; a rank's own rows are not enough where the program reads all.
int forward(char **argv) {
  Model model(argv[2]);
  const Library &library = model.library;
  for (braid_extent extent : {BRAID_OWN_PART, BRAID_WHOLE}) {
    for (const braid_input &input : model.inputs) {
      int64_t count = 1;
      for (int32_t i = 0; i < input.rank; ++i)
        count *= extent == BRAID_WHOLE ? input.shape[i] : input.extent[i];
      std::vector<float> values(count);
      for (int64_t i = 0; i < count; ++i)
        values[i] = float(i) / 64;
      model.check(CALL(library, braid_set_input)(model.step, input.name, 0, BRAID_F32, values.data(), extent));
    }
    const braid_status status = CALL(library, braid_forward)(model.step);
    if (status != BRAID_OK)
      model.refused("forward", status);
  }
  for (int32_t i = 0; i < CALL(library, braid_output_count)(model.step); ++i) {
    braid_tensor output;
    model.check(CALL(library, braid_get_output)(model.step, i, &output));
    std::printf("%s %lld x %lld, whole %d:", output.name, (long long)output.extent[0], (long long)output.extent[1],
                output.is_whole);
    for (int k = 0; k < 3; ++k)
      std::printf(" %.4f", double(static_cast<const float *>(output.data)[k * 31]));
    std::printf("\n");
  }
  float loss;
  model.check(CALL(library, braid_evaluate)(model.step, &loss));
  braid_tensor output;
  model.refused("output", CALL(library, braid_get_output)(model.step, 0, &output));
  return 0;
}

} // namespace

int main(int argc, char **argv) {
  const std::string what = argv[1];
  return what == "train"       ? train(argc, argv)
         : what == "two"       ? two(argv)
         : what == "errors"    ? errors(argv)
         : what == "arguments" ? arguments(argv)
         : what == "threads"   ? threads(argv)
         : what == "fork"      ? forkedSteps(Library(argv[2]), 2)
         : what == "forward"   ? forward(argv)
                               : tensors(argv);
}
