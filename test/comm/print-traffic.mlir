// What each collective sends, and the function in all and by axes.
// RUN: braid-opt --comm-print-traffic --verify-diagnostics %s -o /dev/null
// RUN: braid-opt --comm-decompose=algorithm=hierarchical --comm-print-traffic %s -o /dev/null 2>&1 | FileCheck %s --check-prefix=LEVELS
// RUN: braid-opt --comm-decompose=algorithm=ring --comm-print-traffic %s -o /dev/null 2>&1 | FileCheck %s --check-prefix=RING

comm.mesh @mesh [dp = 2, tp = 4]

// 1024 bytes in 8 ranks are 2 * 7/8 * 1024; in two levels only the 256 that are left
// of a reduce_scatter over tp go over dp.
// LEVELS: remark: f: 3 collectives, 1792 bytes sent; over {tp}: 2 collectives, 1536 bytes sent; over {dp}: 1 collective, 256 bytes sent
// RING: remark: f: 14 collectives, 1792 bytes sent; over {dp, tp}: 14 collectives, 1792 bytes sent
// expected-remark @+1 {{f: 1 collective, 1792 bytes sent; over {dp, tp}: 1 collective, 1792 bytes sent}}
func.func @f(%x: tensor<256xf32> {comm.sharding = #comm.sharding<@mesh, {}, partial sum {dp, tp}>}) -> (tensor<256xf32> {comm.sharding = #comm.sharding<@mesh, {}>})
    attributes {comm.program = #comm.program<@mesh>} {
  // expected-remark @+1 {{comm.all_reduce over {dp, tp}: 8 ranks, 1792 bytes sent}}
  %y = comm.all_reduce sum %x over @mesh {dp, tp} : (tensor<256xf32>) -> tensor<256xf32>
  return %y : tensor<256xf32>
}
