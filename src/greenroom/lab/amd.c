/*
 * A stand-in for AMD's management library: libamd_smi.so without a GPU.
 *
 * What it answers stands in the file named by GREENROOM_LAB_GPUS, as nvml.c has it: one
 * "<scope>.<key>=<value>" a line, the scope a GPU's index, "gpus" or "node". The file is read at every call.
 *
 *   node.init=<code>   amdsmi_init answers this status (34 driver not loaded)
 *   <i>.fail=<code>    every call on this GPU answers the status (12 I/O, 51 no driver)
 *   <i>.hang=1         no call on this GPU comes back
 *
 * A reading that has no line is answered with NOT_SUPPORTED, and so is every call that is not below: the
 * build adds them from the names that the Python binding asks for. Statuses, struct layouts and units are
 * those of amdsmi.h (ROCm 7.0). It proves how the ABI is read, nothing about hardware.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OK = 0, INVALID = 1, NOT_SUPPORTED = 2 };
enum { MAX_GPUS = 64, MAX_TEXT = 1 << 18, MAX_VALUE = 256, TYPE_GPU = 1, HOTSPOT = 1 };

#define API __attribute__((visibility("default"))) int

static char handles[MAX_GPUS];

/* Copies the value of "<scope>.<key>="; 0 if there is no such line. */
static int find(const char *scope, const char *key, char *value) {
    static char text[MAX_TEXT];
    char want[128];
    const char *path = getenv("GREENROOM_LAB_GPUS");
    FILE *file = path ? fopen(path, "r") : NULL;
    if (!file) return 0;
    text[0] = '\n';
    text[1 + fread(text + 1, 1, sizeof text - 2, file)] = 0;
    fclose(file);
    snprintf(want, sizeof want, "\n%s.%s=", scope, key);
    const char *line = strstr(text, want);
    if (!line) return 0;
    line += strlen(want);
    size_t size = strcspn(line, "\n");
    if (size >= MAX_VALUE) size = MAX_VALUE - 1;
    memcpy(value, line, size);
    value[size] = 0;
    return 1;
}

static int text_of(void *gpu, const char *key, char *value) {
    char scope[16];
    snprintf(scope, sizeof scope, "%d", (int)((char *)gpu - handles));
    return find(scope, key, value) || find("gpus", key, value);
}

static int number_of(void *gpu, const char *key, uint64_t *value) {
    char text[MAX_VALUE];
    if (!text_of(gpu, key, text)) return 0;
    *value = strtoull(text, NULL, 0);
    return 1;
}

/* The status of every call on this GPU before it is answered. */
static int ready(void *gpu) {
    uint64_t code = 0;
    if ((char *)gpu < handles || (char *)gpu >= handles + MAX_GPUS) return INVALID;
    if (number_of(gpu, "hang", &code) && code) for (;;) pause();
    return number_of(gpu, "fail", &code) ? (int)code : OK;
}

#define READY(gpu) do { int status = ready(gpu); if (status) return status; } while (0)
#define NEED(what) do { if (!(what)) return NOT_SUPPORTED; } while (0)

static uint32_t count(void) {
    char text[MAX_VALUE];
    return find("node", "count", text) ? (uint32_t)strtoul(text, NULL, 0) : 0;
}

API amdsmi_init(uint64_t flags) {
    char text[MAX_VALUE];
    (void)flags;
    return find("node", "init", text) ? atoi(text) : OK;
}

API amdsmi_shut_down(void) { return OK; }

/* One socket holds all GPUs. */
API amdsmi_get_socket_handles(uint32_t *sockets, void **list) {
    *sockets = 1;
    if (list) list[0] = handles;
    return OK;
}

API amdsmi_get_processor_handles(void *socket, uint32_t *gpus, void **list) {
    (void)socket;
    *gpus = count();
    for (uint32_t i = 0; list && i < *gpus; i++) list[i] = handles + i;
    return OK;
}

API amdsmi_get_processor_type(void *gpu, uint32_t *type) {
    (void)gpu;
    *type = TYPE_GPU;
    return OK;
}

API amdsmi_get_gpu_device_bdf(void *gpu, uint64_t *bdf) {
    unsigned domain, bus, device, function;
    char text[MAX_VALUE];
    READY(gpu);
    NEED(text_of(gpu, "pci", text) && sscanf(text, "%x:%x:%x.%x", &domain, &bus, &device, &function) == 4);
    *bdf = function | device << 3 | bus << 8 | (uint64_t)domain << 16;
    return OK;
}

API amdsmi_get_gpu_device_uuid(void *gpu, uint32_t *size, char *uuid) {
    char text[MAX_VALUE];
    READY(gpu);
    NEED(text_of(gpu, "uuid", text));
    snprintf(uuid, *size, "%s", text);
    return OK;
}

struct asic {
    char market_name[256]; uint32_t vendor_id; char vendor_name[256]; uint32_t subvendor_id; uint64_t device_id;
    uint32_t rev_id; char serial[256]; uint32_t oam_id, compute_units; uint8_t pad[4]; uint64_t target;
    uint32_t subsystem_id, reserved[21];
} __attribute__((packed));

API amdsmi_get_gpu_asic_info(void *gpu, struct asic *asic) {
    READY(gpu);
    memset(asic, 0, sizeof *asic);
    NEED(text_of(gpu, "name", asic->market_name));
    text_of(gpu, "serial", asic->serial);
    strcpy(asic->vendor_name, "Advanced Micro Devices Inc. [AMD/ATI]");
    asic->vendor_id = 0x1002;
    asic->device_id = 0x74a1;
    return OK;
}

struct driver { char version[256], date[256], name[256]; };

API amdsmi_get_gpu_driver_info(void *gpu, struct driver *driver) {
    READY(gpu);
    memset(driver, 0, sizeof *driver);
    NEED(find("node", "driver", driver->version));
    strcpy(driver->name, "amdgpu");
    return OK;
}

struct errors { uint64_t correctable, uncorrectable, deferred, reserved[5]; };

API amdsmi_get_gpu_total_ecc_count(void *gpu, struct errors *errors) {
    READY(gpu);
    memset(errors, 0, sizeof *errors);
    NEED(number_of(gpu, "ecc.volatile.uncorrected", &errors->uncorrectable));
    number_of(gpu, "ecc.volatile.corrected", &errors->correctable);
    return OK;
}

struct page { uint64_t address, size; uint32_t status; uint8_t pad[4]; };

/* "pages.<status>=<how many>": 0 retired, 1 waits for a reset, 2 could not be retired. */
API amdsmi_get_gpu_bad_page_info(void *gpu, uint32_t *pages, struct page *list) {
    static const char *const keys[] = {"pages.0", "pages.1", "pages.2"};
    uint64_t many[3] = {0, 0, 0};
    uint32_t at = 0;
    READY(gpu);
    NEED(number_of(gpu, keys[0], &many[0]));
    for (int status = 1; status < 3; status++) number_of(gpu, keys[status], &many[status]);
    for (uint32_t status = 0; list && status < 3; status++)
        for (uint64_t i = 0; i < many[status]; i++, at++)
            list[at] = (struct page){.address = at * 4096, .size = 4096, .status = status};
    *pages = (uint32_t)(many[0] + many[1] + many[2]);
    return OK;
}

API amdsmi_get_gpu_bad_page_threshold(void *gpu, uint32_t *threshold) {
    uint64_t value;
    READY(gpu);
    NEED(number_of(gpu, "pages.threshold", &value));
    *threshold = (uint32_t)value;
    return OK;
}

struct pcie {
    uint16_t max_width; uint8_t pad0[2]; uint32_t max_speed, version, slot, max_version; uint8_t pad1[4];
    uint64_t reserved0[9];
    uint16_t width; uint8_t pad2[2]; uint32_t speed, bandwidth; uint8_t pad3[4];
    uint64_t replays, recoveries, rollovers, nak_sent, nak_received; uint32_t other_end; uint8_t pad4[4];
    uint64_t reserved1[12];
    uint64_t reserved2[32];
} __attribute__((packed));

/* MT/s of each generation. */
static uint32_t speed_of(uint64_t gen) {
    static const uint32_t speeds[] = {0, 2500, 5000, 8000, 16000, 32000, 64000};
    return gen < sizeof speeds / sizeof *speeds ? speeds[gen] : 0;
}

API amdsmi_get_pcie_info(void *gpu, struct pcie *pcie) {
    uint64_t gen, gen_max, width, width_max;
    READY(gpu);
    memset(pcie, 0, sizeof *pcie - sizeof pcie->reserved2);
    NEED(number_of(gpu, "pcie.gen", &gen) && number_of(gpu, "pcie.gen_max", &gen_max) &&
         number_of(gpu, "pcie.width", &width) && number_of(gpu, "pcie.width_max", &width_max));
    pcie->max_width = (uint16_t)width_max;
    pcie->max_speed = speed_of(gen_max);
    pcie->width = (uint16_t)width;
    pcie->speed = speed_of(gen);
    number_of(gpu, "pcie.replays", &pcie->replays);
    return OK;
}

API amdsmi_get_temp_metric(void *gpu, uint32_t sensor, uint32_t metric, int64_t *celsius) {
    uint64_t value;
    READY(gpu);
    NEED(sensor == HOTSPOT && metric == 0 && number_of(gpu, "temperature.0", &value));
    *celsius = (int64_t)value;
    return OK;
}

struct links { uint32_t total, status[8]; uint8_t pad[4]; uint64_t reserved[7]; } __attribute__((packed));

/* XGMI: up are the first of them, the others are down. */
API amdsmi_get_gpu_xgmi_link_status(void *gpu, struct links *links) {
    uint64_t total, up;
    READY(gpu);
    memset(links, 0, sizeof *links);
    NEED(number_of(gpu, "nvlink.links", &total) && number_of(gpu, "nvlink.up", &up) && total <= 8);
    links->total = (uint32_t)total;
    for (uint64_t i = 0; i < up && i < total; i++) links->status[i] = 1;
    return OK;
}

struct usage { uint32_t gfx, umc, mm, reserved[13]; };

API amdsmi_get_gpu_activity(void *gpu, struct usage *usage) {
    uint64_t value;
    READY(gpu);
    memset(usage, 0, sizeof *usage);
    NEED(number_of(gpu, "busy.gpu", &value));
    usage->gfx = (uint32_t)value;
    return OK;
}

struct vbios { char name[256], date[256], part[256], version[256]; };

API amdsmi_get_gpu_vbios_info(void *gpu, struct vbios *vbios) {
    READY(gpu);
    memset(vbios, 0, sizeof *vbios);
    NEED(text_of(gpu, "vbios", vbios->version));
    return OK;
}

/* No process runs on these GPUs. */
API amdsmi_get_gpu_process_list(void *gpu, uint32_t *processes, void *list) {
    (void)list;
    READY(gpu);
    *processes = 0;
    return OK;
}
