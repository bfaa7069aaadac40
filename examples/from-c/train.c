// Trains a compiled model in a loop of its own: windows of a file of 16-bit tokens, in order.
// usage: train TOKENS STEPS FOLDER
#include <braid/step.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check(braid_status status) {
  if (status == BRAID_OK)
    return;
  fprintf(stderr, "error: %s\n", braid_error());
  exit(1);
}

// The shape of the tokens that a microbatch takes, over all ranks.
static braid_input tokens_of(const braid_step *step) {
  braid_input input;
  for (int32_t i = 0; i < braid_input_count(step); ++i) {
    check(braid_get_input(step, i, &input));
    if (!strcmp(input.role, "tokens"))
      return input;
  }
  fprintf(stderr, "error: the model takes no tokens\n");
  exit(1);
}

static uint16_t *read_file(const char *path, int64_t *count) {
  FILE *file = fopen(path, "rb");
  if (!file || fseek(file, 0, SEEK_END)) {
    perror(path);
    exit(1);
  }
  *count = ftell(file) / 2;
  rewind(file);
  uint16_t *tokens = malloc(2 * *count);
  if (!tokens || fread(tokens, 2, *count, file) != (size_t)*count)
    exit(1);
  fclose(file);
  return tokens;
}

int main(int argc, char **argv) {
  if (argc != 4)
    return fprintf(stderr, "usage: train TOKENS STEPS FOLDER\n"), 2;
  braid_step *step;
  check(braid_create(NULL, &step));
  const braid_input input = tokens_of(step);
  const int64_t rows = input.shape[0], length = input.shape[1];
  int64_t count;
  const uint16_t *data = read_file(argv[1], &count);
  const int64_t windows = (count - 1) / length;
  int32_t *tokens = malloc(4 * rows * length), *targets = malloc(4 * rows * length);

  for (int64_t number = 0; number < atoi(argv[2]); ++number) {
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t i = 0; i < length; ++i) {
        const uint16_t *at = data + (number * rows + row) % windows * length + i;
        tokens[row * length + i] = at[0];
        targets[row * length + i] = at[1];
      }
    braid_result result;
    check(braid_set_input(step, input.name, 0, BRAID_I32, tokens, BRAID_WHOLE));
    check(braid_set_input(step, "targets", 0, BRAID_I32, targets, BRAID_WHOLE));
    check(braid_train(step, 1e-3f, &result));
    printf("step %lld  loss %.9g\n", (long long)result.step, result.loss);
  }
  const char *path;
  check(braid_save(step, argv[3], 3, &path));
  printf("saved %s\n", path);
  braid_destroy(step);
}
