// What data parallelism cannot do, and why.
//
// RUN: not braid-opt %s --tg-derive-facts --comm-data-parallel=zero=1 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not braid-opt %s --tg-derive-facts --comm-data-parallel="axes=dp zero=4" 2>&1 | FileCheck %s --check-prefix=STAGE
// RUN: not braid-opt %s --tg-derive-facts --comm-data-parallel="axes=tp" 2>&1 | FileCheck %s --check-prefix=AXIS
// RUN: not braid-opt %s --tg-derive-facts --comm-data-parallel="axes=dp shard=pp" 2>&1 | FileCheck %s --check-prefix=SHARD
// RUN: not braid-opt %s --tg-derive-facts --comm-data-parallel="axes=dp,pp" 2>&1 | FileCheck %s --check-prefix=SIZE
// RUN: not braid-opt %s --tg-derive-facts --comm-data-parallel="axes=dp,dp" 2>&1 | FileCheck %s --check-prefix=TWICE

// NONE: error: comm-data-parallel needs axes=, the axes over which the batch is sharded
// STAGE: error: option 'zero' of pass: '4' is not valid, expected an integer from 0 to 3
// AXIS: error: comm-data-parallel axes: unknown mesh axis 'tp' (mesh: {dp = 2, pp = 3})
// SHARD: error: comm-data-parallel shard: the batch is not sharded over 'pp'; its axes are {dp}
// SIZE: error: argument #0 {{.*}}cannot be sharded over {dp, pp} as the strategy requires: dim 0 of size 8 does not divide into 6 equal blocks over {dp, pp}
// TWICE: error: comm-data-parallel axes: axis 'dp' is used twice in {dp, dp}
comm.mesh @mesh [dp = 2, pp = 3]

func.func @model(%x: tensor<8x6xf32> {tg.input = "x", tg.role = #tg.role<features>}) -> (tensor<f32> {tg.role = #tg.role<loss>}) {
  %loss = tg.reduce sum %x dims [0, 1] : tensor<8x6xf32> -> tensor<f32>
  return %loss : tensor<f32>
}
