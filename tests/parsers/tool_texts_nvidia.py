"""Hand-made outputs: nvidia-smi in its forms, NVLink."""

from __future__ import annotations

SMI_HEAD = """\
Tue Dec  1 12:48:00 2026
+-----------------------------------------------------------------------------------------+
| NVIDIA-SMI 570.86.15              Driver Version: 570.86.15      CUDA Version: 12.8     |
|-----------------------------------------+------------------------+----------------------+
| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |
| Fan  Temp   Perf          Pwr:Usage/Cap |           Memory-Usage | GPU-Util  Compute M. |
|                                         |                        |               MIG M. |
|=========================================+========================+======================|
"""


def smi(
    ecc="0",
    second="| N/A   31C    P0             71W /  700W |       1MiB /  81559MiB |      0%      Default |",
):
    return (
        SMI_HEAD
        + f"|   0  NVIDIA H100 80GB HBM3          On  |   00000000:19:00.0 Off | {ecc:>20} |\n"
        + second
        + "\n|                                         |                        |             Disabled |\n"
        + "+-----------------------------------------+------------------------+----------------------+\n"
        + "|   1  NVIDIA H100 80GB HBM3          On  |   00000000:3B:00.0 Off |                    0 |\n"
        + "| N/A   30C    P0             70W /  700W |       1MiB /  81559MiB |      0%      Default |\n"
    )


SMI_ERR = "|ERR!  ERR! ERR!             ERR! /  ERR!|       1MiB /  81559MiB |    ERR!      Default |"
SMI_FAN = "|ERR!   31C    P0             71W /  300W |       1MiB /  81559MiB |      0%      Default |"

QUERY = """\

==============NVSMI LOG==============

Timestamp                                 : Tue Dec  1 12:48:00 2026
Driver Version                            : 570.86.15
CUDA Version                              : 12.8

Attached GPUs                             : 1
GPU 00000000:5D:00.0
    Product Name                          : NVIDIA H100 80GB HBM3
    GPU UUID                              : GPU-00000000-1111-2222-3333-444444444444
    Fan Speed                             : N/A
    GPU Reset Status
        Reset Required                    : No
        Drain and Reset Recommended       : {drain}
    GPU Recovery Action                   : {action}
    GPU Link Info
        PCIe Generation
            Max                           : 5
            Current                       : 1
            Device Current                : 1
        Link Width
            Max                           : 16x
            Current                       : {width}
    Clocks Event Reasons
        Idle                              : Active
        SW Power Cap                      : Not Active
        HW Slowdown                       : {slow}
            HW Thermal Slowdown           : Not Active
            HW Power Brake Slowdown       : Not Active
        SW Thermal Slowdown               : Not Active
    ECC Mode
        Current                           : Enabled
        Pending                           : Enabled
    ECC Errors
        Volatile
            SRAM Correctable              : 0
            SRAM Uncorrectable Parity     : {parity}
            DRAM Correctable              : 12
            DRAM Uncorrectable            : 0
        Aggregate
            SRAM Uncorrectable SEC-DED    : {aggregate}
            DRAM Uncorrectable            : 0
            SRAM Threshold Exceeded       : {threshold}
    Retired Pages
        Single Bit ECC                    : N/A
        Double Bit ECC                    : N/A
        Pending Page Blacklist            : N/A
    Remapped Rows
        Correctable Error                 : 0
        Uncorrectable Error               : 1
        Pending                           : {pending}
        Remapping Failure Occurred        : {failure}
        Bank Remap Availability Histogram
            Max                           : 2559 bank(s)
            None                          : 0 bank(s)
    Fabric
        State                             : {state}
        Status                            : {status}
        Health
            Bandwidth                     : Full
            Route Unhealthy               : {route}
    Processes                             : None
"""
WELL = {
    "drain": "No", "action": "None", "width": "16x", "slow": "Not Active", "parity": 0, "aggregate": 0,
    "threshold": "No", "pending": "No", "failure": "No", "state": "Completed", "status": "Success", "route": "False",
}  # fmt: skip

XML = """\
<?xml version="1.0" ?>
<!DOCTYPE nvidia_smi_log SYSTEM "nvsmi_device_v12.dtd">
<nvidia_smi_log>
	<driver_version>570.86.15</driver_version>
	<attached_gpus>2</attached_gpus>
	<gpu id="00000000:19:00.0">
		<product_name>NVIDIA H100 80GB HBM3</product_name>
		<uuid>GPU-00000000-1111-2222-3333-444444444444</uuid>
		<fan_speed>N/A</fan_speed>
		<ecc_errors><volatile><dram_uncorrectable>0</dram_uncorrectable></volatile></ecc_errors>
		<remapped_rows><remapped_row_pending>No</remapped_row_pending></remapped_rows>
	</gpu>
	<gpu id="00000000:3B:00.0">
		<product_name>NVIDIA H100 80GB HBM3</product_name>
		<pci><pci_gpu_link_info><link_widths>
			<max_link_width>16x</max_link_width>
			<current_link_width>{width}</current_link_width>
		</link_widths></pci_gpu_link_info></pci>
		<clocks_event_reasons>
			<clocks_event_reason_hw_thermal_slowdown>{slow}</clocks_event_reason_hw_thermal_slowdown>
		</clocks_event_reasons>
		<ecc_errors>
			<volatile>
				<dram_uncorrectable>{volatile}</dram_uncorrectable>
			</volatile>
			<aggregate>
				<dram_uncorrectable>0</dram_uncorrectable>
			</aggregate>
		</ecc_errors>
		<remapped_rows>
			<remapped_row_corr>0</remapped_row_corr>
			<remapped_row_unc>0</remapped_row_unc>
			<remapped_row_pending>{pending}</remapped_row_pending>
			<remapped_row_failure>{failure}</remapped_row_failure>
		</remapped_rows>
		<fabric>
			<state>Completed</state>
			<status>{status}</status>
		</fabric>
		<processes><process_info><process_name>ecc uncorrected 5</process_name></process_info></processes>
	</gpu>
</nvidia_smi_log>
"""
XML_WELL = {
    "width": "16x",
    "slow": "Not Active",
    "volatile": 0,
    "pending": "No",
    "failure": "No",
    "status": "Success",
}


def query(**changed):
    return QUERY.format(**{**WELL, **changed})


def xml(**changed):
    return XML.format(**{**XML_WELL, **changed})


CSV = "index, name, pci.bus_id, pstate, fan.speed [%], clocks_event_reasons.active, remapped_rows.pending\n{}\n{}\n"
CSV_WELL = "0, NVIDIA L4, 00000000:31:00.0, P8, [N/A], 0x0000000000000001, No"
CSV_HOT = "1, NVIDIA L4, 00000000:32:00.0, P0, [N/A], 0x0000000000000048, No"
CSV_PENDING = "1, NVIDIA L4, 00000000:32:00.0, P0, [N/A], 0x0000000000000000, Yes"
CSV_LOST = "1, NVIDIA L4, 00000000:32:00.0, [GPU is lost], [GPU is lost], [GPU is lost], [GPU is lost]"
CSV_BARE = "NVIDIA L4, 35, P8, 12.10 W, 72.00 W, 0 %\nNVIDIA L4, {}, P8, 12.40 W, 72.00 W, 0 %\n"

LINKS = "GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-0)\n" + "".join(
    f"\t Link {n}: 26.562 GB/s\n" for n in range(18)
)
LINKS_DOWN = LINKS.replace("GPU 0", "GPU 5").replace("Link 7: 26.562 GB/s", "Link 7: <inactive>")
LINKS_NVL = "GPU 0: NVIDIA H100 NVL (UUID: GPU-0)\n" + "".join(
    f"\t Link {n}: {'26.562 GB/s' if n < 12 else '<inactive>'}\n" for n in range(18)
)
LINK_ERRORS = (
    "GPU 1: NVIDIA A100-SXM4-80GB (UUID: GPU-1)\n\t Link 0: Replay Errors: {}\n\t Link 0: CRC Errors: 0\n"
)
DCGM_LINKS = """\
+----------------------+
|  NvLink Link Status  |
+----------------------+
GPUs:
    gpuId 0:
        U U U U U U U U U U U U
    gpuId 1:
        U U U {} U U U U U U U U
NvSwitches:
    physicalId 11:
        U U X X U U U U
Key: Up=U, Down=D, Disabled=X, Not Supported=_
"""
TOPO = """\
\t\x1b[4mGPU0\tGPU1\tGPU2\tGPU3\tNIC0\tCPU Affinity\tNUMA Affinity\x1b[0m
GPU0\t X \tNV18\tNV18\tNV18\tPXB\t0-55\t0
GPU1\tNV18\t X \tNV18\tNV18\tSYS\t0-55\t0
GPU2\tNV18\tNV18\t X \t{}\tSYS\t56-111\t1
GPU3\tNV18\tNV18\t{}\t X \tSYS\t56-111\t1
NIC0\tPXB\tSYS\tSYS\tSYS\t X

Legend:
  X    = Self
  NV#  = Connection traversing a bonded set of # NVLinks
"""
