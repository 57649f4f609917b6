// The part of the generated header that is the same for all kernels.
#include "HeaderText.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace tilec {

// Weak definitions give all files of a program one state; C99 has no inline variables. In the texts below @ stands for
// the prefix, ARCH_ for the architecture and COUNT_ for the number of kernel functions.
static constexpr StringLiteral stateText = R"(/* What all files of a program that include this header share. */
typedef CUresult (*@_encoder_)(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *, const cuuint64_t *,
                               const cuuint64_t *, const cuuint32_t *, const cuuint32_t *, CUtensorMapInterleave,
                               CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill);
struct @_state_type_ {
  CUlibrary library;
  @_encoder_ encoder;
  CUkernel kernels[COUNT_];
  uint64_t configured[COUNT_]; /* one bit a device */
};
struct @_failure_type_ {
  CUresult code;
  const char *text;
};
__attribute__((weak, visibility("hidden"))) struct @_state_type_ @_state_;
__attribute__((weak, visibility("hidden"))) __thread struct @_failure_type_ @_failure_;

static inline CUresult @_fail_(CUresult code, const char *text) {
  @_failure_.code = code;
  @_failure_.text = text;
  return code;
}

/* What a result of the functions of this header means; more exact than cuGetErrorString if the function was the last
   one called in this thread. */
static inline const char *@_error_string(CUresult result) {
  const char *text = NULL;
  if (result != CUDA_SUCCESS && result == @_failure_.code && @_failure_.text != NULL)
    return @_failure_.text;
  if (cuGetErrorString(result, &text) != CUDA_SUCCESS)
    text = "unknown error";
  return text;
}

static inline CUresult @_adopt_(CUresult result, CUlibrary library) {
  CUlibrary none = NULL;
  if (result != CUDA_SUCCESS)
    return @_fail_(result, result == CUDA_ERROR_NO_BINARY_FOR_GPU
                               ? "@: the image was compiled for ARCH_ and does not run on this device"
                               : NULL);
  /* Another thread may have been faster. */
  if (!__atomic_compare_exchange_n(&@_state_.library, &none, library, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
    (void)cuLibraryUnload(library);
  return CUDA_SUCCESS;
}

/* Loads a cubin from memory, which may be freed afterwards. One load serves all devices, contexts and threads; further
   calls do nothing. */
static inline CUresult @_load(const void *image, size_t size) {
  CUlibrary library = NULL;
  CUresult result;
  if (image == NULL || size == 0)
    return @_fail_(CUDA_ERROR_INVALID_VALUE, "@: the image is empty");
  if (__atomic_load_n(&@_state_.library, __ATOMIC_ACQUIRE) != NULL)
    return CUDA_SUCCESS;
  result = cuLibraryLoadData(&library, image, NULL, NULL, 0, NULL, NULL, 0);
  return @_adopt_(result, library);
}

/* The same from a file. */
static inline CUresult @_load_file(const char *path) {
  CUlibrary library = NULL;
  CUresult result;
  if (path == NULL)
    return @_fail_(CUDA_ERROR_INVALID_VALUE, "@: the path is null");
  if (__atomic_load_n(&@_state_.library, __ATOMIC_ACQUIRE) != NULL)
    return CUDA_SUCCESS;
  result = cuLibraryLoadFromFile(&library, path, NULL, NULL, 0, NULL, NULL, 0);
  return @_adopt_(result, library);
}

/* Unloads the image. No other thread may be using it. */
static inline CUresult @_unload(void) {
  CUlibrary library = __atomic_exchange_n(&@_state_.library, (CUlibrary)NULL, __ATOMIC_ACQ_REL);
  int i;
  for (i = 0; i < COUNT_; ++i) {
    __atomic_store_n(&@_state_.kernels[i], (CUkernel)NULL, __ATOMIC_RELEASE);
    __atomic_store_n(&@_state_.configured[i], (uint64_t)0, __ATOMIC_RELEASE);
  }
  return library == NULL ? CUDA_SUCCESS : cuLibraryUnload(library);
}
)";

static constexpr StringLiteral arithmeticText = R"(
/* Arithmetic on sizes. It saturates instead of overflowing, divides towards minus infinity, and x / 0 is 0. */
static inline int64_t @_add_(int64_t a, int64_t b) {
  int64_t sum;
  return __builtin_add_overflow(a, b, &sum) ? (a < 0 ? INT64_MIN : INT64_MAX) : sum;
}
static inline int64_t @_sub_(int64_t a, int64_t b) {
  int64_t difference;
  return __builtin_sub_overflow(a, b, &difference) ? (a < 0 ? INT64_MIN : INT64_MAX) : difference;
}
static inline int64_t @_mul_(int64_t a, int64_t b) {
  int64_t product;
  return __builtin_mul_overflow(a, b, &product) ? ((a < 0) == (b < 0) ? INT64_MAX : INT64_MIN) : product;
}
static inline int64_t @_div_(int64_t a, int64_t b) {
  if (b == 0 || b == -1)
    return b == 0 ? 0 : @_sub_(0, a);
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}
static inline int64_t @_rem_(int64_t a, int64_t b) {
  if (b == 0 || b == -1)
    return 0;
  return a % b + (a % b != 0 && (a < 0) != (b < 0) ? b : 0);
}
static inline int64_t @_ceil_div_(int64_t a, int64_t b) {
  if (b == 0 || b == -1)
    return b == 0 ? 0 : @_sub_(0, a);
  return a / b + (a % b != 0 && (a < 0) == (b < 0));
}
static inline int64_t @_align_up_(int64_t a, int64_t b) { return @_mul_(@_ceil_div_(a, b), b); }
static inline int64_t @_min_(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t @_max_(int64_t a, int64_t b) { return a > b ? a : b; }

/* The bytes from the first to behind the last element of a tensor: 0 if it is empty, -1 if an extent or a stride is
   negative. Strides are in elements. */
static inline int64_t @_span_(unsigned rank, const int64_t *shape, const int64_t *strides, int64_t bits) {
  int64_t last = 0;
  int empty = 0;
  unsigned i;
  for (i = 0; i < rank; ++i) {
    if (shape[i] < 0 || strides[i] < 0)
      return -1;
    empty |= shape[i] == 0;
    last = @_add_(last, @_mul_(shape[i] - 1, strides[i]));
  }
  return empty ? 0 : @_ceil_div_(@_mul_(@_add_(last, 1), bits), 8);
}
static inline int @_too_large_(CUdeviceptr address, int64_t bytes) {
  return bytes > INT64_MAX / 16 || address > ~(CUdeviceptr)0 - (CUdeviceptr)bytes;
}
static inline int @_overlap_(CUdeviceptr a, int64_t a_bytes, CUdeviceptr b, int64_t b_bytes) {
  return a_bytes > 0 && b_bytes > 0 && a < b + (CUdeviceptr)b_bytes && b < a + (CUdeviceptr)a_bytes;
}

/* 16-bit floats from their bits. */
static inline float @_from_bf16_(uint16_t bits) {
  uint32_t wide = (uint32_t)bits << 16;
  float value;
  __builtin_memcpy(&value, &wide, sizeof value);
  return value;
}
static inline float @_from_f16_(uint16_t bits) {
  int exponent = bits >> 10 & 31;
  float value = (float)((bits & 1023) + (exponent != 0 ? 1024 : 0));
  if (exponent == 31)
    value = (bits & 1023) != 0 ? __builtin_nanf("") : __builtin_inff();
  else
    value = __builtin_ldexpf(value, (exponent != 0 ? exponent : 1) - 25);
  return bits >> 15 != 0 ? -value : value;
}
)";

static constexpr StringLiteral launchText = R"(
static inline CUresult @_get_kernel_(unsigned index, const char *name, CUkernel *kernel) {
  CUlibrary library = __atomic_load_n(&@_state_.library, __ATOMIC_ACQUIRE);
  CUresult result;
  if (library == NULL)
    return @_fail_(CUDA_ERROR_NOT_INITIALIZED, "@: no image is loaded; call @_load or @_load_file first");
  *kernel = __atomic_load_n(&@_state_.kernels[index], __ATOMIC_ACQUIRE);
  if (*kernel != NULL)
    return CUDA_SUCCESS;
  result = cuLibraryGetKernel(kernel, library, name);
  if (result != CUDA_SUCCESS)
    return @_fail_(result, result == CUDA_ERROR_NOT_FOUND
                               ? "@: the loaded image does not hold the kernels of this header"
                               : NULL);
  __atomic_store_n(&@_state_.kernels[index], *kernel, __ATOMIC_RELEASE);
  return CUDA_SUCCESS;
}

/* Permits more than 48 KiB of shared memory and more than 8 blocks a cluster, once a device. */
static inline CUresult @_configure_(unsigned index, CUkernel kernel, unsigned shared, unsigned cluster_blocks) {
  CUdevice device = 0;
  uint64_t bit;
  CUresult result = cuCtxGetDevice(&device);
  if (result != CUDA_SUCCESS)
    return @_fail_(result, NULL);
  bit = device < 64 ? (uint64_t)1 << device : 0;
  if ((__atomic_load_n(&@_state_.configured[index], __ATOMIC_ACQUIRE) & bit) != 0)
    return CUDA_SUCCESS;
  result = cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)shared, kernel, device);
  if (result == CUDA_SUCCESS && cluster_blocks > 8)
    result = cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1, kernel, device);
  if (result != CUDA_SUCCESS)
    return @_fail_(result, NULL);
  (void)__atomic_or_fetch(&@_state_.configured[index], bit, __ATOMIC_RELEASE);
  return CUDA_SUCCESS;
}

static inline CUresult @_run_(CUstream stream, unsigned index, const char *name, const int64_t *grid, unsigned block,
                              const unsigned *cluster, unsigned shared, void **params) {
  CUlaunchConfig config;
  CUlaunchAttribute attribute;
  CUkernel kernel = NULL;
  unsigned cluster_blocks = cluster[0] * cluster[1] * cluster[2];
  CUresult result;
  if (grid[0] == 0 || grid[1] == 0 || grid[2] == 0)
    return CUDA_SUCCESS;
  if (grid[0] < 0 || grid[1] < 0 || grid[2] < 0 || grid[0] > 2147483647 || grid[1] > 65535 || grid[2] > 65535)
    return @_fail_(CUDA_ERROR_INVALID_VALUE, "@: the tensors need more blocks than a grid can have");
  if (grid[0] % cluster[0] != 0 || grid[1] % cluster[1] != 0 || grid[2] % cluster[2] != 0)
    return @_fail_(CUDA_ERROR_INVALID_VALUE, "@: the grid is not a multiple of the cluster");
  result = @_get_kernel_(index, name, &kernel);
  if (result == CUDA_SUCCESS && (shared > 49152 || cluster_blocks > 8))
    result = @_configure_(index, kernel, shared, cluster_blocks);
  if (result != CUDA_SUCCESS)
    return result;
  config.gridDimX = (unsigned)grid[0];
  config.gridDimY = (unsigned)grid[1];
  config.gridDimZ = (unsigned)grid[2];
  config.blockDimX = block;
  config.blockDimY = 1;
  config.blockDimZ = 1;
  config.sharedMemBytes = shared;
  config.hStream = stream;
  config.attrs = &attribute;
  config.numAttrs = cluster_blocks > 1;
  attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  attribute.value.clusterDim.x = cluster[0];
  attribute.value.clusterDim.y = cluster[1];
  attribute.value.clusterDim.z = cluster[2];
  result = cuLaunchKernelEx(&config, (CUfunction)kernel, params, NULL);
  return result == CUDA_SUCCESS ? result : @_fail_(result, NULL);
}

/* Describes a tensor for TMA. `strides` are in bytes, of the second dimension and up. An empty tensor is described as
   one of extent 1: nothing is read from it. */
static inline CUresult @_encode_(CUtensorMap *map, CUtensorMapDataType type, unsigned rank, CUdeviceptr address,
                                 const int64_t *dims, const int64_t *strides, const cuuint32_t *box,
                                 CUtensorMapSwizzle swizzle, CUtensorMapL2promotion l2, const char *failure) {
  cuuint64_t map_dims[5], map_strides[5];
  cuuint32_t steps[5];
  int empty = 0;
  unsigned i;
  CUresult result = CUDA_SUCCESS;
  @_encoder_ encoder = __atomic_load_n(&@_state_.encoder, __ATOMIC_ACQUIRE);
  if (encoder == NULL) {
    void *symbol = NULL;
    CUdriverProcAddressQueryResult found;
    result = cuGetProcAddress("cuTensorMapEncodeTiled", &symbol, 12000, CU_GET_PROC_ADDRESS_DEFAULT, &found);
    if (result != CUDA_SUCCESS || symbol == NULL)
      return @_fail_(CUDA_ERROR_NOT_SUPPORTED, "@: the driver is too old for tensor maps");
    __builtin_memcpy(&encoder, &symbol, sizeof encoder);
    __atomic_store_n(&@_state_.encoder, encoder, __ATOMIC_RELEASE);
  }
  for (i = 0; i < rank; ++i) {
    empty |= dims[i] <= 0;
    map_dims[i] = dims[i] > 0 ? (cuuint64_t)dims[i] : 1;
    map_strides[i] = i > 0 ? (cuuint64_t)strides[i - 1] : 0;
    steps[i] = 1;
  }
  if (empty) {
    address = 256;
    for (i = 0; i < rank; ++i)
      map_strides[i] = 256;
  }
  result = encoder(map, type, rank, (void *)(uintptr_t)address, map_dims, map_strides + 1, box, steps,
                   CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle, l2, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  return result == CUDA_SUCCESS ? result : @_fail_(result, failure);
}
)";

std::string writeHeaderRuntime(StringRef prefix, StringRef arch, ArrayRef<std::string> entries) {
  std::string text = (stateText + arithmeticText + launchText).str();
  std::string result;
  StringRef rest(text);
  while (!rest.empty()) {
    size_t position = std::min({rest.find('@'), rest.find("ARCH_"), rest.find("COUNT_"), rest.size()});
    result += rest.take_front(position);
    rest = rest.drop_front(position);
    if (rest.consume_front("@"))
      result += prefix;
    else if (rest.consume_front("ARCH_"))
      result += arch;
    else if (rest.consume_front("COUNT_"))
      result += utostr(std::max<size_t>(entries.size(), 1));
  }
  return result;
}

} // namespace tilec
