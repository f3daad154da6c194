// Queues, memory and graphs of cards: all calls of the CUDA runtime but the launches.
#include <mutex>
#include <string>

#include "nodewise/device/cuda/checks.hpp"
#include "nodewise/device/memory_cache.hpp"
#include "nodewise/device/queue.hpp"

namespace nodewise::device {

namespace {

MemoryCache& cache() {
  static MemoryCache* const pieces = new MemoryCache;  // outlives all buffers
  return *pieces;
}

std::mutex cache_mutex;

int current_device() {
  int device = 0;
  cudaGetDevice(&device);
  return device;
}

/// Gives back what is kept beyond what is wanted.
void give_back(std::size_t wanted, bool all) {
  while (const auto piece = cache().surplus(wanted, all)) cudaFree(piece->memory);
}

}  // namespace

void* Memory<Cuda>::allocate(std::size_t bytes) {
  const std::lock_guard lock(cache_mutex);
  const std::size_t rounded = MemoryCache::rounded(bytes);
  if (void* const kept = cache().take(current_device(), rounded)) return kept;
  give_back(rounded, false);
  void* memory = nullptr;
  cudaError_t code = cudaMalloc(&memory, rounded);
  if (code == cudaErrorMemoryAllocation) {
    cudaGetLastError();  // or the next call would report it again
    give_back(0, true);
    code = cudaMalloc(&memory, rounded);
  }
  if (code == cudaSuccess) {
    cache().note_use(rounded);
    return memory;
  }
  std::size_t left = 0;
  std::size_t all = 0;
  cudaGetLastError();
  cudaMemGetInfo(&left, &all);
  throw Error(code == cudaErrorMemoryAllocation ? ErrorCode::out_of_memory : ErrorCode::internal,
              "the card has no " + std::to_string(bytes) + " bytes left: " + std::to_string(left) +
                  " of " + std::to_string(all) + " are free (" + cudaGetErrorString(code) + ")");
}

void Memory<Cuda>::release(void* memory, std::size_t bytes) noexcept {
  cudaDeviceSynchronize();
  const std::lock_guard lock(cache_mutex);
  const MemoryCache::Piece piece = {current_device(), memory, MemoryCache::rounded(bytes)};
  try {
    cache().keep(piece);
  } catch (...) {
    cudaFree(memory);
  }
  give_back(0, false);
}

void* Memory<Cuda>::allocate_staging(std::size_t bytes) {
  void* memory = nullptr;
  const cudaError_t code = cudaMallocHost(&memory, bytes);
  if (code == cudaSuccess) return memory;
  cudaGetLastError();  // or the next call would report it again
  throw Error(code == cudaErrorMemoryAllocation ? ErrorCode::out_of_memory : ErrorCode::internal,
              "no " + std::to_string(bytes) + " bytes of page-locked memory are left (" +
                  cudaGetErrorString(code) + ")");
}

void Memory<Cuda>::release_staging(void* memory, std::size_t /*bytes*/) noexcept {
  cudaFreeHost(memory);
}

Queue<Cuda>::Queue() {
  const DeviceInfo info = cuda_devices();
  if (info.count == 0) throw Error(ErrorCode::unsupported, info.why_none);
  cudaStream_t stream = nullptr;
  require(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "the start of a stream");
  stream_ = stream;
}

Queue<Cuda>::~Queue() {
  cudaStreamDestroy(static_cast<cudaStream_t>(stream_));
}

void Queue<Cuda>::copy_in(void* device, const void* host, std::size_t bytes) {
  require(cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, stream_of(*this)),
          "a copy to it");
}

void Queue<Cuda>::copy_out(void* host, const void* device, std::size_t bytes) {
  require(cudaMemcpyAsync(host, device, bytes, cudaMemcpyDeviceToHost, stream_of(*this)),
          "a copy from it");
}

void Queue<Cuda>::copy_within(void* to, const void* from, std::size_t bytes) {
  require(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream_of(*this)),
          "a copy on it");
}

void Queue<Cuda>::clear(void* device, std::size_t bytes) {
  require(cudaMemsetAsync(device, 0, bytes, stream_of(*this)), "clearing memory");
}

void Queue<Cuda>::wait() {
  require(cudaStreamSynchronize(stream_of(*this)), "a kernel");
  require(cudaGetLastError(), "a launch");
}

Graph<Cuda>::Graph(Queue<Cuda>& queue, const std::function<void()>& work) : queue_(queue) {
  require(cudaStreamBeginCapture(stream_of(queue), cudaStreamCaptureModeThreadLocal), "recording");
  try {
    work();
  } catch (...) {
    cudaGraph_t broken = nullptr;
    cudaStreamEndCapture(stream_of(queue), &broken);
    if (broken != nullptr) cudaGraphDestroy(broken);
    throw;
  }
  cudaGraph_t graph = nullptr;
  require(cudaStreamEndCapture(stream_of(queue), &graph), "recording");
  cudaGraphExec_t instance = nullptr;
  const cudaError_t code = cudaGraphInstantiate(&instance, graph, 0);
  cudaGraphDestroy(graph);
  require(code, "making a graph of a cycle");
  instance_ = instance;
}

Graph<Cuda>::~Graph() {
  cudaGraphExecDestroy(static_cast<cudaGraphExec_t>(instance_));
}

void Graph<Cuda>::run() {
  require(cudaGraphLaunch(static_cast<cudaGraphExec_t>(instance_), stream_of(queue_)), "a graph");
}

DeviceInfo cuda_devices() {
  DeviceInfo info;
  const cudaError_t code = cudaGetDeviceCount(&info.count);
  if (code != cudaSuccess || info.count == 0) {
    cudaGetLastError();
    info.count = 0;
    info.why_none = std::string("there is no card that CUDA can use here: ") +
                    (code != cudaSuccess ? cudaGetErrorString(code) : "none was found");
    return info;
  }
  int current = 0;
  cudaDeviceProp properties{};
  require(cudaGetDevice(&current), "asking for the current card");
  require(cudaGetDeviceProperties(&properties, current), "asking for a card's name");
  info.name = properties.name;
  info.memory = properties.totalGlobalMem;
  return info;
}

void use_cuda_device(int number) {
  const DeviceInfo info = cuda_devices();
  if (info.count == 0) throw Error(ErrorCode::unsupported, info.why_none);
  if (number < 0 || number >= info.count) {
    throw Error(ErrorCode::unsupported, "there is no card " + std::to_string(number) +
                                            ": there are " + std::to_string(info.count) +
                                            ", counted from 0");
  }
  require(cudaSetDevice(number), "choosing a card");
}

}  // namespace nodewise::device
