// RUN: braid-opt %s -o %t.plain
// RUN: braid-opt %s --tg-derive-facts --comm-bucket="bucket-mb=inf first-bucket-mb=inf" -o %t.bucket
// RUN: diff %t.plain %t.bucket

// What stays as it is.

comm.mesh @mesh [pp = 2, dp = 2]

// Gathers of stored parameters are those of a unit; sums of activations are needed
// where they are.
func.func @activations(%a: tensor<2xf32> {tg.param = #tg.param<"a", #tg.init<ones>>, comm.global = tensor<4xf32>,
                                          comm.sharding = #comm.sharding<@mesh, {}, flat {dp}>},
                       %b: tensor<2xf32> {tg.param = #tg.param<"b", #tg.init<ones>>, comm.global = tensor<4xf32>,
                                          comm.sharding = #comm.sharding<@mesh, {}, flat {dp}>})
    -> (tensor<4xf32> {tg.output = "y"}, tensor<4xf32> {tg.output = "z"}) attributes {comm.program = #comm.program<@mesh>} {
  %wa = comm.all_gather %a dims [flat] over @mesh {dp} : (tensor<2xf32>) -> tensor<4xf32>
  %wb = comm.all_gather %b dims [flat] over @mesh {dp} : (tensor<2xf32>) -> tensor<4xf32>
  %y = comm.all_reduce sum %wa over @mesh {dp} : (tensor<4xf32>) -> tensor<4xf32>
  %z = comm.all_reduce sum %wb over @mesh {dp} : (tensor<4xf32>) -> tensor<4xf32>
  return %y, %z : tensor<4xf32>, tensor<4xf32>
}

// Another function holds the other ranks of these groups.
func.func @stage(%a: tensor<4xf32> {tg.param = #tg.param<"a", #tg.init<ones>>},
                 %b: tensor<4xf32> {tg.param = #tg.param<"b", #tg.init<ones>>})
    -> (tensor<4xf32> {tg.updates = "a"}, tensor<4xf32> {tg.updates = "b"})
    attributes {comm.program = #comm.program<@mesh, pp = [0]>} {
  %ra = comm.all_reduce sum %a over @mesh {pp} : (tensor<4xf32>) -> tensor<4xf32>
  %rb = comm.all_reduce sum %b over @mesh {pp} : (tensor<4xf32>) -> tensor<4xf32>
  return %ra, %rb : tensor<4xf32>, tensor<4xf32>
}

// Not a program of ranks.
func.func @model(%a: tensor<4xf32> {tg.param = #tg.param<"a", #tg.init<ones>>}) -> (tensor<4xf32> {tg.output = "y"}) {
  %y = math.sin %a : tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func private @elsewhere(tensor<4xf32>) -> tensor<4xf32>
