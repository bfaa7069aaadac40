// RUN: not braid-opt %s --comm-bucket="bucket-mb=-1" 2>&1 | FileCheck %s --check-prefix=SIZE
// RUN: not braid-opt %s --comm-bucket="first-bucket-mb=auto" 2>&1 | FileCheck %s --check-prefix=FIRST
// RUN: not braid-opt %s --comm-bucket="per-unit=yes" 2>&1 | FileCheck %s --check-prefix=UNIT

// SIZE: error: comm-bucket: bucket-mb must be a number of MiB (0 for one tensor each), inf or auto, found '-1'
// FIRST: error: comm-bucket: first-bucket-mb must be a number of MiB (0 for one tensor) or inf, found 'auto'
// UNIT: error: option 'per-unit' of pass: 'yes' is not valid, expected auto, false or true

comm.mesh @mesh [dp = 2]
func.func @train(%a: tensor<4xf32> {tg.param = #tg.param<"a", #tg.init<ones>>}) -> (tensor<4xf32> {tg.updates = "a"})
    attributes {comm.program = #comm.program<@mesh>} {
  %na = comm.all_reduce mean %a over @mesh {dp} : (tensor<4xf32>) -> tensor<4xf32>
  return %na : tensor<4xf32>
}
