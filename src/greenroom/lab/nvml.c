/*
 * A stand-in for NVIDIA's management library: libnvidia-ml.so.1 without a GPU.
 *
 * What it answers stands in the file named by GREENROOM_LAB_GPUS, one "<scope>.<key>=<value>" a line.
 * The scope is a GPU's index, "gpus" (all of them, weaker than an index) or "node". The file is read
 * again whenever it has changed, so a fault can be put in under a running program.
 *
 *   node.init=<code>   nvmlInit answers this NVML return code (9 driver not loaded, 18 version mismatch)
 *   node.count=<n>     GPUs listed
 *   <i>.fail=<code>    every call on this GPU answers the code (15 lost, 16 reset required)
 *   <i>.hang=1         no call on this GPU comes back
 *
 * A reading that has no line is answered with NOT_SUPPORTED, as the driver does for a model without it.
 * Return codes, struct layouts and units are those of nvml.h (CUDA 12). It proves how the ABI is read,
 * nothing about hardware.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OK = 0, UNINITIALIZED = 1, INVALID = 2, NOT_SUPPORTED = 3, NOT_FOUND = 6, TOO_SMALL = 7, NOT_LOADED = 9,
       TIMED_OUT = 10, LOST = 15, VERSION = 25, UNKNOWN = 999 };
enum { MAX_GPUS = 64, MAX_LINKS = 18, MAX_TEXT = 1 << 18, MAX_VALUE = 256 };

typedef unsigned int u32;
typedef unsigned long long u64;
typedef int nvmlReturn_t;
typedef struct gpu { int index; } *Gpu;

#define API __attribute__((visibility("default"))) nvmlReturn_t

static struct gpu gpus[MAX_GPUS];
static char text[MAX_TEXT];
static struct stat seen;
static int users;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* ---- the state file ---- */

static void refresh(void) {
    const char *path = getenv("GREENROOM_LAB_GPUS");
    struct stat now;
    if (!path || stat(path, &now)) { text[0] = 0; return; }
    if (now.st_ino == seen.st_ino && now.st_size == seen.st_size &&
        now.st_mtim.tv_sec == seen.st_mtim.tv_sec && now.st_mtim.tv_nsec == seen.st_mtim.tv_nsec) return;
    FILE *file = fopen(path, "r");
    if (!file) return;
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
    seen = now;
}

/* Copies the value of "<scope>.<key>="; 0 if there is no such line. Called with the lock held. */
static int find(const char *scope, const char *key, char *value) {
    char want[128];
    size_t length = (size_t)snprintf(want, sizeof want, "%s.%s=", scope, key);
    for (const char *line = text; line && *line; line = strchr(line, '\n'), line = line ? line + 1 : 0) {
        if (strncmp(line, want, length)) continue;
        size_t end = strcspn(line + length, "\n");
        if (end >= MAX_VALUE) end = MAX_VALUE - 1;
        memcpy(value, line + length, end);
        value[end] = 0;
        return 1;
    }
    return 0;
}

/* index < 0: of the node. */
static int get(int index, const char *key, char *value) {
    char scope[16];
    snprintf(scope, sizeof scope, "%d", index);
    pthread_mutex_lock(&lock);
    refresh();
    int found = index < 0 ? find("node", key, value) : find(scope, key, value) || find("gpus", key, value);
    pthread_mutex_unlock(&lock);
    return found;
}

static nvmlReturn_t number(int index, const char *key, u64 *out) {
    char value[MAX_VALUE];
    if (!get(index, key, value)) return NOT_SUPPORTED;
    *out = strtoull(value, 0, 0);
    return OK;
}

static nvmlReturn_t string(int index, const char *key, char *out, u32 length) {
    char value[MAX_VALUE];
    if (!get(index, key, value)) return NOT_SUPPORTED;
    if (strlen(value) >= length) return TOO_SMALL;
    strcpy(out, value);
    return OK;
}

static u32 count(void) {
    u64 n = 0;
    number(-1, "count", &n);
    return n > MAX_GPUS ? MAX_GPUS : (u32)n;
}

/* What stands in the way of every call: not initialised, a handle that is none, a fault put in. */
static nvmlReturn_t enter(Gpu gpu) {
    u64 value = 0;
    if (users <= 0) return UNINITIALIZED;
    if (gpu < gpus || gpu >= gpus + MAX_GPUS) return INVALID;
    if (!number(gpu->index, "hang", &value) && value) for (;;) pause();
    if (!number(gpu->index, "fail", &value)) return (nvmlReturn_t)value;
    return OK;
}

#define ENTER(gpu) do { nvmlReturn_t entered = enter(gpu); if (entered) return entered; } while (0)

static nvmlReturn_t number32(Gpu gpu, const char *key, u32 *out) {
    u64 value = 0;
    ENTER(gpu);
    nvmlReturn_t result = number(gpu->index, key, &value);
    if (result == OK) *out = (u32)value;
    return result;
}

static nvmlReturn_t number64(Gpu gpu, const char *key, u64 *out) {
    ENTER(gpu);
    return number(gpu->index, key, out);
}

static nvmlReturn_t pair(Gpu gpu, const char *first, const char *second, u32 *a, u32 *b) {
    nvmlReturn_t result = number32(gpu, first, a);
    return result ? result : number32(gpu, second, b);
}

#define NUMBER32(name, key) API name(Gpu gpu, u32 *out) { return number32(gpu, key, out); }
#define NUMBER64(name, key) API name(Gpu gpu, u64 *out) { return number64(gpu, key, out); }
#define STRING(name, key) \
    API name(Gpu gpu, char *out, u32 length) { ENTER(gpu); return string(gpu->index, key, out, length); }
#define PAIR(name, first, second) API name(Gpu gpu, u32 *a, u32 *b) { return pair(gpu, first, second, a, b); }
#define INDEXED(name, format) \
    API name(Gpu gpu, u32 which, u32 *out) { \
        char key[64]; snprintf(key, sizeof key, format, which); return number32(gpu, key, out); }

/* ---- the library and the node ---- */

API nvmlInitWithFlags(u32 flags) {
    u64 code = 0;
    char value[MAX_VALUE];
    (void)flags;
    if (!get(-1, "count", value)) return NOT_LOADED; /* no state: a machine without a driver */
    if (!number(-1, "init", &code) && code) return (nvmlReturn_t)code;
    for (int i = 0; i < MAX_GPUS; i++) gpus[i].index = i;
    users++;
    return OK;
}
API nvmlInit_v2(void) { return nvmlInitWithFlags(0); }
API nvmlInit(void) { return nvmlInitWithFlags(0); }
API nvmlShutdown(void) { return users > 0 ? (users--, OK) : UNINITIALIZED; }

__attribute__((visibility("default"))) const char *nvmlErrorString(nvmlReturn_t code) {
    switch (code) {
    case OK: return "Success";
    case UNINITIALIZED: return "Uninitialized";
    case INVALID: return "Invalid Argument";
    case NOT_SUPPORTED: return "Not Supported";
    case 4: return "Insufficient Permissions";
    case NOT_FOUND: return "Not Found";
    case TOO_SMALL: return "Insufficient Size";
    case NOT_LOADED: return "Driver Not Loaded";
    case TIMED_OUT: return "Timeout";
    case LOST: return "GPU is lost";
    case 16: return "GPU requires reset";
    case 18: return "Driver/library version mismatch";
    case VERSION: return "Argument version mismatch";
    default: return "Unknown Error";
    }
}

#define NODE if (users <= 0) return UNINITIALIZED
API nvmlSystemGetDriverVersion(char *out, u32 length) { NODE; return string(-1, "driver", out, length); }
API nvmlSystemGetNVMLVersion(char *out, u32 length) { NODE; return string(-1, "nvml", out, length); }
API nvmlSystemGetCudaDriverVersion_v2(int *out) {
    u64 value = 0;
    NODE;
    nvmlReturn_t result = number(-1, "cuda", &value);
    *out = (int)value;
    return result;
}
API nvmlSystemGetCudaDriverVersion(int *out) { return nvmlSystemGetCudaDriverVersion_v2(out); }
API nvmlDeviceGetCount_v2(u32 *out) { NODE; *out = count(); return OK; }

/* ---- finding a GPU ---- */

API nvmlDeviceGetHandleByIndex_v2(u32 index, Gpu *out) {
    NODE;
    if (index >= count()) return INVALID;
    ENTER(&gpus[index]);
    *out = &gpus[index];
    return OK;
}

static nvmlReturn_t by(const char *key, const char *wanted, Gpu *out) {
    char value[MAX_VALUE];
    NODE;
    for (u32 i = 0; i < count(); i++)
        if (get((int)i, key, value) && !strcasecmp(value, wanted)) return nvmlDeviceGetHandleByIndex_v2(i, out);
    return NOT_FOUND;
}
API nvmlDeviceGetHandleByUUID(const char *uuid, Gpu *out) { return by("uuid", uuid, out); }
API nvmlDeviceGetHandleBySerial(const char *serial, Gpu *out) { return by("serial", serial, out); }
API nvmlDeviceGetHandleByPciBusId_v2(const char *bus, Gpu *out) { return by("pci", bus, out); }
API nvmlDeviceGetIndex(Gpu gpu, u32 *out) { ENTER(gpu); *out = (u32)gpu->index; return OK; }
API nvmlDeviceGetMinorNumber(Gpu gpu, u32 *out) { return nvmlDeviceGetIndex(gpu, out); }

/* ---- plain readings ---- */

STRING(nvmlDeviceGetName, "name")
STRING(nvmlDeviceGetUUID, "uuid")
STRING(nvmlDeviceGetSerial, "serial")
STRING(nvmlDeviceGetVbiosVersion, "vbios")
STRING(nvmlDeviceGetInforomImageVersion, "inforom")
API nvmlDeviceGetGspFirmwareVersion(Gpu gpu, char *out) { ENTER(gpu); return string(gpu->index, "gsp", out, 0x40); }
NUMBER32(nvmlDeviceGetPersistenceMode, "persistence")
NUMBER32(nvmlDeviceGetComputeMode, "compute_mode")
NUMBER32(nvmlDeviceGetDisplayActive, "display")
NUMBER32(nvmlDeviceGetDisplayMode, "display")
NUMBER32(nvmlDeviceGetPerformanceState, "pstate")
NUMBER32(nvmlDeviceGetPowerUsage, "power_mw")
NUMBER32(nvmlDeviceGetEnforcedPowerLimit, "power_limit_mw")
NUMBER32(nvmlDeviceGetPowerManagementLimit, "power_limit_mw")
NUMBER32(nvmlDeviceGetPowerManagementDefaultLimit, "power_default_mw")
NUMBER32(nvmlDeviceGetC2cModeInfoV1, "c2c.enabled")
NUMBER32(nvmlDeviceGetCurrPcieLinkGeneration, "pcie.gen")
NUMBER32(nvmlDeviceGetMaxPcieLinkGeneration, "pcie.gen_max")
NUMBER32(nvmlDeviceGetCurrPcieLinkWidth, "pcie.width")
NUMBER32(nvmlDeviceGetMaxPcieLinkWidth, "pcie.width_max")
NUMBER32(nvmlDeviceGetPcieReplayCounter, "pcie.replays")
NUMBER32(nvmlDeviceGetRetiredPagesPendingStatus, "retired.pending")
NUMBER64(nvmlDeviceGetCurrentClocksEventReasons, "clock_reasons")
NUMBER64(nvmlDeviceGetCurrentClocksThrottleReasons, "clock_reasons")
NUMBER32(nvmlDeviceGetFanSpeed, "fan_percent")
NUMBER32(nvmlDeviceGetBoardId, "board")
NUMBER32(nvmlDeviceGetMultiGpuBoard, "multi_gpu_board")
NUMBER64(nvmlDeviceGetTotalEnergyConsumption, "energy_mj")
PAIR(nvmlDeviceGetEncoderUtilization, "busy.encoder", "busy.period_us")
PAIR(nvmlDeviceGetDecoderUtilization, "busy.decoder", "busy.period_us")
PAIR(nvmlDeviceGetEccMode, "ecc.enabled", "ecc.enabled")
PAIR(nvmlDeviceGetMigMode, "mig", "mig")
PAIR(nvmlDeviceGetCudaComputeCapability, "compute.major", "compute.minor")
INDEXED(nvmlDeviceGetTemperature, "temperature.%u")
INDEXED(nvmlDeviceGetTemperatureThreshold, "temperature_limit.%u")
INDEXED(nvmlDeviceGetClockInfo, "clock_mhz.%u")
INDEXED(nvmlDeviceGetMaxClockInfo, "clock_max_mhz.%u")
INDEXED(nvmlDeviceGetPcieThroughput, "pcie.kb_per_s.%u")

/* ---- readings with a shape of their own ---- */

API nvmlDeviceGetUtilizationRates(Gpu gpu, u32 *out) { return pair(gpu, "busy.gpu", "busy.memory", out, out + 1); }

API nvmlDeviceGetTemperatureV(Gpu gpu, int *io) { /* version, sensor, degrees */
    if ((u32)io[0] != 0x0100000Cu) return VERSION;
    return nvmlDeviceGetTemperature(gpu, (u32)io[1], (u32 *)&io[2]);
}

API nvmlDeviceGetMemoryInfo(Gpu gpu, u64 *out) { /* total, free, used */
    nvmlReturn_t result = number64(gpu, "memory.total", &out[0]);
    if (!result) result = number64(gpu, "memory.used", &out[2]);
    if (!result) out[1] = out[0] - out[2];
    return result;
}
API nvmlDeviceGetMemoryInfo_v2(Gpu gpu, u64 *out) { /* version, total, reserved, free, used */
    if ((u32)out[0] != 0x02000028u) return VERSION;
    nvmlReturn_t result = number64(gpu, "memory.total", &out[1]);
    if (!result) result = number64(gpu, "memory.used", &out[4]);
    if (!result) out[2] = 0, out[3] = out[1] - out[4];
    return result;
}
API nvmlDeviceGetBAR1MemoryInfo(Gpu gpu, u64 *out) { out[2] = 0; out[1] = 0; return number64(gpu, "memory.total", out); }

struct pci { char legacy[16]; u32 domain, bus, device, id, subsystem; char bus_id[32]; };
API nvmlDeviceGetPciInfo_v3(Gpu gpu, struct pci *out) {
    char value[MAX_VALUE];
    u32 function;
    ENTER(gpu);
    memset(out, 0, sizeof *out);
    if (!get(gpu->index, "pci", value)) return NOT_SUPPORTED;
    if (sscanf(value, "%x:%x:%x.%x", &out->domain, &out->bus, &out->device, &function) != 4) return UNKNOWN;
    snprintf(out->bus_id, sizeof out->bus_id, "%08X:%02X:%02X.%X", out->domain, out->bus, out->device, function);
    snprintf(out->legacy, sizeof out->legacy, "%04X:%02X:%02X.%X", out->domain & 0xffff, out->bus & 0xff, out->device & 0xff, function & 7);
    return OK;
}

API nvmlDeviceGetTotalEccErrors(Gpu gpu, u32 kind, u32 counter, u64 *out) {
    char key[64];
    if (kind > 1 || counter > 1) return INVALID;
    snprintf(key, sizeof key, "ecc.%s.%s", counter ? "aggregate" : "volatile", kind ? "uncorrected" : "corrected");
    return number64(gpu, key, out);
}
API nvmlDeviceGetMemoryErrorCounter(Gpu gpu, u32 kind, u32 counter, u32 place, u64 *out) {
    *out = 0;
    return place == 2 ? nvmlDeviceGetTotalEccErrors(gpu, kind, counter, out) : number64(gpu, "ecc.elsewhere", out);
}

API nvmlDeviceGetRemappedRows(Gpu gpu, u32 *corrected, u32 *uncorrected, u32 *pending, u32 *failed) {
    nvmlReturn_t result = pair(gpu, "remap.corrected", "remap.uncorrected", corrected, uncorrected);
    return result ? result : pair(gpu, "remap.pending", "remap.failed", pending, failed);
}
API nvmlDeviceGetRetiredPages(Gpu gpu, u32 cause, u32 *length, u64 *addresses) {
    u32 have = 0;
    nvmlReturn_t result = number32(gpu, cause ? "retired.double" : "retired.single", &have);
    if (result) return result;
    result = have > *length ? TOO_SMALL : OK;
    for (u32 i = 0; !result && addresses && i < have; i++) addresses[i] = 0x10000ULL * (i + 1);
    *length = have;
    return result;
}

/* Answers "inforom.code", 14 being a corrupt InfoROM. */
API nvmlDeviceValidateInforom(Gpu gpu) {
    u32 code = 0;
    nvmlReturn_t result = number32(gpu, "inforom.code", &code);
    return result ? result : (nvmlReturn_t)code;
}

API nvmlDeviceGetRowRemapperHistogram(Gpu gpu, u32 *out) { /* banks by spare rows left: all, most, some, few, none */
    static const char *const keys[] = {"max", "high", "partial", "low", "none"};
    char key[64];
    nvmlReturn_t result = OK;
    for (int i = 0; !result && i < 5; i++) {
        snprintf(key, sizeof key, "remap.banks.%s", keys[i]);
        result = number32(gpu, key, &out[i]);
    }
    return result;
}

struct sram { u32 version; u64 aggregate[3], recent[3], buckets[5]; u32 exceeded; };
API nvmlDeviceGetSramEccErrorStatus(Gpu gpu, struct sram *out) { /* parity, SEC-DED, corrected */
    u32 version = out->version, exceeded = 0;
    u64 errors = 0;
    if (version != 0x01000068u) return VERSION;
    nvmlReturn_t result = number64(gpu, "sram.uncorrected", &errors);
    if (!result) result = number32(gpu, "sram.exceeded", &exceeded);
    if (result) return result;
    memset(out, 0, sizeof *out);
    out->version = version;
    out->aggregate[1] = errors;
    out->buckets[0] = errors;
    out->exceeded = exceeded;
    return OK;
}

struct fabric { u32 version; unsigned char cluster[16]; u32 status, clique, state, health; unsigned char summary; };
API nvmlDeviceGetGpuFabricInfoV(Gpu gpu, struct fabric *out) {
    if (out->version != 0x03000028u && out->version != 0x02000024u) return VERSION;
    nvmlReturn_t result = pair(gpu, "fabric.state", "fabric.status", &out->state, &out->status);
    return result ? result : number32(gpu, "fabric.health", &out->health);
}

/* "field.<id>.<scope>", weaker "field.<id>"; each field has its own return code. */
struct field { u32 id, scope; long long at, latency; u32 type; nvmlReturn_t code; u64 value; };
API nvmlDeviceGetFieldValues(Gpu gpu, int many, struct field *fields) {
    ENTER(gpu);
    for (int i = 0; i < many; i++) {
        char key[64];
        snprintf(key, sizeof key, "field.%u.%u", fields[i].id, fields[i].scope);
        fields[i].type = 3; /* unsigned long long */
        fields[i].code = number(gpu->index, key, &fields[i].value);
        if (!fields[i].code) continue;
        snprintf(key, sizeof key, "field.%u", fields[i].id);
        fields[i].code = number(gpu->index, key, &fields[i].value);
    }
    return OK;
}

/* "p2p=<status>" of either GPU. */
API nvmlDeviceGetP2PStatus(Gpu gpu, Gpu other, u32 which, u32 *out) {
    u32 theirs = 0;
    (void)which;
    nvmlReturn_t result = number32(gpu, "p2p", out);
    if (!result) result = number32(other, "p2p", &theirs);
    if (!result && theirs) *out = theirs;
    return result;
}

API nvmlDeviceGetNvLinkErrorCounter(Gpu gpu, u32 link, u32 counter, u64 *out) {
    char key[64];
    (void)link;
    snprintf(key, sizeof key, "nvlink.errors.%u", counter);
    return number64(gpu, key, out);
}

/* NVLinks are up from link 0 on: "nvlink.up" of "nvlink.links". */
API nvmlDeviceGetNvLinkState(Gpu gpu, u32 link, u32 *out) {
    u32 links = 0, up = 0;
    nvmlReturn_t result = pair(gpu, "nvlink.links", "nvlink.up", &links, &up);
    if (result) return result;
    if (link >= links || link >= MAX_LINKS) return INVALID;
    *out = link < up;
    return OK;
}
API nvmlDeviceGetNvLinkVersion(Gpu gpu, u32 link, u32 *out) { (void)link; return number32(gpu, "nvlink.version", out); }

struct process { u32 pid; u64 bytes; u32 gpu_instance, compute_instance; };
API nvmlDeviceGetComputeRunningProcesses_v3(Gpu gpu, u32 *length, struct process *out) { /* "pid:bytes pid:bytes" */
    char value[MAX_VALUE] = "";
    u32 have = 0;
    ENTER(gpu);
    get(gpu->index, "processes", value);
    for (char *at = value, *end; ; at = end) {
        u64 pid = strtoull(at, &end, 10);
        if (end == at) break;
        u64 bytes = *end == ':' ? strtoull(end + 1, &end, 10) : 0;
        if (out && have < *length) out[have] = (struct process){(u32)pid, bytes, ~0u, ~0u};
        have++;
    }
    nvmlReturn_t result = have > *length ? TOO_SMALL : OK;
    *length = have;
    return result;
}
API nvmlDeviceGetGraphicsRunningProcesses_v3(Gpu gpu, u32 *length, void *out) { (void)out; ENTER(gpu); *length = 0; return OK; }
API nvmlDeviceGetProcessUtilization(Gpu gpu, void *out, u32 *length, u64 since) {
    (void)out; (void)since;
    ENTER(gpu);
    *length = 0;
    return NOT_FOUND; /* what the driver says of an idle GPU */
}
API nvmlDeviceGetMaxMigDeviceCount(Gpu gpu, u32 *out) { ENTER(gpu); *out = 0; return OK; }
API nvmlDeviceIsMigDeviceHandle(Gpu gpu, u32 *out) { ENTER(gpu); *out = 0; return OK; }

/* Windows only; asked for by programs that run on both. */
API nvmlDeviceGetDriverModel_v2(Gpu gpu, u32 *current, u32 *pending) { ENTER(gpu); (void)current; (void)pending; return NOT_SUPPORTED; }
