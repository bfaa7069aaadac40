// What is said of a value is said of its gradient too, where it gives way instead of
// conflicting: the matmul that computes the gradient of w has w itself as an operand,
// whose column is summed, and w's shape as its result, whose column stays.
//
// RUN: braid-opt %s --tg-differentiate | FileCheck %s --check-prefix=YIELDS
// RUN: braid-opt %s --tg-differentiate --comm-propagate | FileCheck %s
// RUN: braid-interp %s --compare --pipeline="tg-differentiate,comm-shard" --reference-pipeline=tg-differentiate

comm.mesh @mesh [tp = 2]

// YIELDS: comm.constrain %{{.*}} <@mesh, {} {tp}> : tensor<8x8xf32>
// YIELDS: comm.constrain %{{.*}} <@mesh, {} {tp}> yielding : tensor<8x8xf32>

// CHECK: comm.sharding = #comm.sharding<@mesh, {} {tp}>, tg.grad_of = "w"
func.func @f(%w: tensor<8x8xf32> {tg.param = #tg.param<"w", #tg.init<ones>>,
                                  comm.sharding = #comm.sharding<@mesh, {} {tp}>}) -> (tensor<f32> {tg.role = #tg.role<loss>}) {
  %c = comm.constrain %w <@mesh, {} {tp}> : tensor<8x8xf32>
  %y = tg.contract "df,dg->fg" %c, %c : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %t = math.tanh %y : tensor<8x8xf32>
  %loss = tg.reduce mean %t dims [0, 1] : tensor<8x8xf32> -> tensor<f32>
  return %loss : tensor<f32>
}
