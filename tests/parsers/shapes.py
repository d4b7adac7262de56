"""Shapes of what people paste, with invented identifiers: what each tells (code, scope, severity, device), or nothing."""

# ruff: noqa: E501 - lines as tools print them

from __future__ import annotations

_SMI_HEAD = """\
+-----------------------------------------------------------------------------+
| NVIDIA-SMI 535.129.03   Driver Version: 535.129.03   CUDA Version: 12.2     |
|-------------------------------+----------------------+----------------------+
| GPU  Name        Persistence-M| Bus-Id        Disp.A | Volatile Uncorr. ECC |
| Fan  Temp  Perf  Pwr:Usage/Cap|         Memory-Usage | GPU-Util  Compute M. |
|===============================+======================+======================|
"""
_ROW = """\
|   0  NVIDIA A100-SXM...  On   | 00000000:07:00.0 Off |                    {} |
| N/A   {}C    P0    {} / 400W |      0MiB / 81920MiB |      0%      Default |
+-------------------------------+----------------------+----------------------+
"""
TROUBLE = [
    # Xid and SXid
    ("[Tue Mar  5 03:12:44 2024] NVRM: Xid (PCI:0000:4e:00): 79, pid=8812, name=python, GPU has fallen off the bus.", "gpu.xid.79", "gpu", "fail", "0000:4e:00"),
    ("Mar  5 03:12:44 gpu-n12 kernel: [812345.123456] NVRM: GPU 0000:4e:00.0: GPU has fallen off the bus.", "gpu.xid.79", "gpu", "fail", "0000:4e:00"),
    ("[812345.123456] NVRM: Xid (PCI:0000:4e:00): 48, pid=8812, name=python, An uncorrectable double bit error (DBE) has been detected on GPU in the framebuffer at partition 2, subpartition 1.", "gpu.xid.48", "gpu", "fail", "0000:4e:00"),
    ("NVRM: Xid (PCI:0000:4e:00): 95, pid=8812, name=python3, Uncontained: LTC TAG (0x2,0x0). RST: Yes, D-RST: No", "gpu.xid.95", "gpu", "fail", "0000:4e:00"),
    ("NVRM: Xid (PCI:0000:4e:00): 94, pid=8812, name=python3, Contained: SM (0x1). RST: No, D-RST: No", "gpu.xid.94", "application", "suspect", "0000:4e:00"),
    ("NVRM: Xid (PCI:0000:4e:00): 92, pid='<unknown>', name=<unknown>, High single-bit ECC error rate", "gpu.xid.92", "gpu", "", "0000:4e:00"),
    ("NVRM: Xid (PCI:0000:4e:00): 61, pid=8812, 0d02(31c4) 00000000 00000000", "gpu.xid.61", "gpu", "suspect", "0000:4e:00"),
    ("NVRM: Xid (PCI:0000:4e:00): 120, pid=1234, name=nvidia-smi, GSP task exception: 0xe000011 @ pc:0x1a2b3c", "gpu.xid.120", "gpu", "fail", "0000:4e:00"),
    ("NVRM: Xid (PCI:0000:4e:00): 140, pid='<unknown>', name=<unknown>, An uncorrectable ECC error detected (possible firmware handling failure) DRAM:1, LTC:0, MMU:0, PCIE:0", "gpu.xid.140", "gpu", "fail", "0000:4e:00"),
    ("NVRM: Xid (PCI:0000:4e:00): 43, pid=8812, name=a.out, Ch 00000010", "gpu.xid.43", "application", "note", "0000:4e:00"),
    ("NVRM: Xid (0000:02:00): 31, Ch 00000010, engmask 00000101, intr 10000000", "gpu.xid.31", "application", "note", "0000:02:00"),
    ("[  812.345678] nvidia-nvswitch3: SXid (PCI:0000:c4:00.0): 20009, Non-fatal, Link 44 LTSSM Fault Up", "nvswitch.sxid.20009", "fabric", "note", "0000:c4:00"),
    ("Mar  5 03:12:44 hgx3 kernel: nvidia-nvswitch0: SXid (PCI:0000:c1:00.0): 12023, Fatal, Link 33 ingress invalid command (First)", "nvswitch.sxid.12023", "fabric", "fail", "0000:c1:00"),
    # words of the driver
    ("[   12.345678] NVRM: GPU 0000:4e:00.0: rm_init_adapter failed, device minor number 3", "gpu.driver.init_failed", "gpu", "fail", "0000:4e:00"),
    ("[   12.345678] NVRM: GPU 0000:4e:00.0: RmInitAdapter failed! (0x24:0x65:1423)", "gpu.driver.init_failed", "gpu", "fail", "0000:4e:00"),
    ("[   12.345678] nvidia: probe of 0000:4e:00.0 failed with error -1", "gpu.driver.init_failed", "gpu", "fail", "0000:4e:00"),
    ("[   12.345678] NVRM: None of the NVIDIA graphics adapters were initialized!", "gpu.driver.init_failed", "gpu", "fail", ""),
    ("[   12.345678] NVRM: API mismatch: the client has the version 535.129.03, but\nNVRM: this kernel module has the version 535.104.12.  Please\nNVRM: make sure that this kernel module and all NVIDIA driver\nNVRM: components have the same version.", "gpu.driver.mismatch", "node", "fail", ""),
    # NVML and nvidia-smi
    ("Unable to determine the device handle for GPU 0000:4E:00.0: Unknown Error", "nvml.999", "gpu", "suspect", "0000:4e:00"),
    ("Unable to determine the device handle for GPU0: 0000:4E:00.0: GPU is lost.  Reboot the system to recover this GPU", "gpu.lost", "gpu", "fail", "0000:4e:00"),
    ("Unable to determine the device handle for gpu 00000000:4E:00.0: GPU is lost. Reboot\nthe system to recover this GPU", "gpu.lost", "gpu", "fail", "0000:4e:00"),
    ("No devices were found", "gpu.missing", "gpu", "fail", ""),
    ("$ nvidia-smi\nNo devices were found", "gpu.missing", "gpu", "fail", ""),
    ("Failed to initialize NVML: Unknown Error", "nvml.999", "gpu", "suspect", ""),
    ("Failed to initialize NVML: Driver/library version mismatch", "gpu.driver.mismatch", "node", "fail", ""),
    ("root@gpu7:~# nvidia-smi\nFailed to initialize NVML: Driver/library version mismatch\nNVML library version: 550.54", "gpu.driver.mismatch", "node", "fail", ""),
    ("NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest NVIDIA driver is installed and running.", "gpu.driver.absent", "node", "fail", ""),
    ("NVIDIA-SMI couldn't find libnvidia-ml.so library in your system. Please make sure that the NVIDIA Display Driver is properly installed and present in your system.", "gpu.driver.absent", "node", "fail", ""),
    (_SMI_HEAD + _ROW.format("0", "ERR!", "ERR!"), "gpu.sensor.unreadable", "gpu", "suspect", "0000:07:00"),
    (_SMI_HEAD + _ROW.format("3", " 31", " 58W"), "gpu.ecc.uncorrectable", "gpu", "fail", "0000:07:00"),
    ("WARNING: infoROM is corrupted at gpu 0000:4E:00.0", "nvml.14", "gpu", "suspect", "0000:4e:00"),
    ("pynvml.NVMLError_GpuIsLost: GPU is lost", "gpu.lost", "gpu", "fail", ""),
    ("pynvml.nvml.NVMLError_LibRmVersionMismatch: RM has detected an NVML/RM version mismatch.", "gpu.driver.mismatch", "node", "fail", ""),
    ("Traceback (most recent call last):\n  File \"x.py\", line 3, in <module>\npynvml.NVMLError_DriverNotLoaded: Driver Not Loaded", "gpu.driver.absent", "node", "fail", ""),
    # programs
    ("RuntimeError: CUDA error: uncorrectable ECC error encountered\nCUDA kernel errors might be asynchronously reported at some other API call, so the stacktrace below might be incorrect.", "gpu.ecc.uncorrectable", "gpu", "fail", ""),
    ("F tensorflow/stream_executor/lib/statusor.cc:34] failed call to cuDevicePrimaryCtxRetain: CUDA_ERROR_ECC_UNCORRECTABLE: uncorrectable ECC error encountered", "gpu.ecc.uncorrectable", "gpu", "fail", ""),
    ("RuntimeError: cuda runtime error (39) : uncorrectable ECC error encountered at /x/THCCachingHostAllocator.cpp:265", "gpu.ecc.uncorrectable", "gpu", "fail", ""),
    ("[rank3]: torch.AcceleratorError: CUDA error: an illegal memory access was encountered", "app.cuda", "application", "note", ""),
    ("RuntimeError: CUDA error: device-side assert triggered", "app.cuda", "application", "note", ""),
    ("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 3 has a total capacity of 79.10 GiB", "app.cuda", "application", "note", "gpu:3"),
    ("RuntimeError: CUDA error: unspecified launch failure", "app.cuda.launch", "unknown", "suspect", ""),
    ("RuntimeError: CUDA error: unknown error", "app.cuda.unknown", "unknown", "suspect", ""),
    ("RuntimeError: No CUDA GPUs are available", "app.cuda.none", "unknown", "suspect", ""),
    ("RuntimeError: Unexpected error from cudaGetDeviceCount(). Did you run some cuda functions before calling NumCudaDevices() that might have already set an error? Error 802: system not yet initialized", "fabric.state", "fabric", "suspect", ""),
    ("RuntimeError: Unexpected error from cudaGetDeviceCount(). Error 803: system has unsupported display driver / cuda driver combination", "gpu.driver.mismatch", "node", "fail", ""),
    ("RuntimeError: CUDA error: uncorrectable NVLink error detected during the execution", "app.cuda.nvlink", "link", "suspect", ""),
    ("CUDA_ERROR_CONTAINED: Invalid access of peer GPU memory over nvlink or a hardware error", "app.cuda.contained", "gpu", "suspect", ""),
    ("RuntimeError: CUDA error: CUDA-capable device(s) is/are busy or unavailable", "app.cuda.busy", "unknown", "suspect", ""),
    # containers and Kubernetes
    ("nvidia-container-cli: initialization error: nvml error: driver/library version mismatch: unknown", "gpu.driver.mismatch", "node", "fail", ""),
    ("docker: Error response from daemon: failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: error running hook #0: exit status 1, stdout: , stderr: Auto-detected mode as 'legacy' nvidia-container-cli: detection error: nvml error: unknown error: unknown.", "nvml.999", "gpu", "suspect", ""),
    ("2024/03/05 19:09:42 XidCriticalError: Xid=79 on Device=GPU-7540a9b3-eeb9-1214-1526-f93c9ea826a8, the device will go unhealthy.\n2024/03/05 19:09:42 'nvidia.com/gpu' device marked unhealthy: GPU-7540a9b3-eeb9-1214-1526-f93c9ea826a8", "gpu.xid.79", "gpu", "fail", "GPU-7540a9b3-eeb9-1214-1526-f93c9ea826a8"),
    ("I0305 06:31:04.123456       1 health.go:159] Processing event {Device:{Handle:0xc0} EventType:8 EventData:48}\nI0305 06:31:04.123470       1 health.go:210] XidCriticalError: Xid=48 on Device=GPU-1b4f2a90-0c1d-4e5f-8a6b-7c8d9e0f1a2b; marking device as unhealthy.", "gpu.xid.48", "gpu", "fail", "GPU-1b4f2a90-0c1d-4e5f-8a6b-7c8d9e0f1a2b"),
    ("  XidCriticalError     True    Mon, 23 Jun 2025 18:45:43 +0000   Mon, 23 Jun 2025 18:44:57 +0000   {\\\"79\\\":true}                  6e43a052-e544-467b-a972-63d7cd2ce80a", "gpu.xid.79", "gpu", "fail", ""),
    ("Conditions:\n  Type             Status    LastHeartbeatTime                 Reason              Message\n  MemoryPressure   Unknown   Mon, 04 Mar 2024 10:00:00 +0000   NodeStatusUnknown   Kubelet stopped posting node status.\n  Ready            Unknown   Mon, 04 Mar 2024 10:00:00 +0000   NodeStatusUnknown   Kubelet stopped posting node status.", "k8s.node.not_ready", "node", "suspect", ""),
    ("  Ready            False   Mon, 04 Mar 2024 10:00:00 +0000   Mon, 04 Mar 2024 09:58:00 +0000   KubeletNotReady   PLEG is not healthy: pleg was last seen active 3m11s ago", "k8s.node.not_ready", "node", "suspect", ""),
    ("  DiskPressure     True    Mon, 04 Mar 2024 10:00:00 +0000   Mon, 04 Mar 2024 09:58:00 +0000   KubeletHasDiskPressure   kubelet has disk pressure", "k8s.node.pressure", "node", "suspect", "DiskPressure"),
    ("  KernelDeadlock   True    Mon, 04 Mar 2024 10:00:00 +0000   Mon, 04 Mar 2024 09:58:00 +0000   DockerHung   task docker:7 blocked for more than 120 seconds.", "host.hung_task", "node", "fail", ""),
    ("  Warning  UnexpectedAdmissionError  12s  kubelet  Allocate failed due to no healthy devices present; cannot allocate unhealthy devices nvidia.com/gpu, which is unexpected", "k8s.gpu.unhealthy", "node", "suspect", ""),
    ("  Warning  TaskHung  3m (x4 over 9m)  kernel-monitor  INFO: task python3:8812 blocked for more than 120 seconds.", "host.hung_task", "node", "fail", ""),
    ('DCGM_FI_DEV_XID_ERRORS{gpu="3",UUID="GPU-12",device="nvidia3",modelName="NVIDIA H100 80GB HBM3",Hostname="gpu-n12"} 79', "gpu.xid.79", "gpu", "fail", "gpu:3"),
    ("GpuNvlinkWatch = True   reason=GpuNvlinkWatchIsNotHealthy\n  ErrorCode:DCGM_FR_NVLINK_DOWN GPU:4 NVLINK:7", "dcgm.14", "link", "", ""),
    # InfiniBand
    ("CA 'mlx5_3'\n\tCA type: MT4129\n\tNumber of ports: 1\n\tPort 1:\n\t\tState: Initializing\n\t\tPhysical state: LinkUp\n\t\tRate: 400\n\t\tBase lid: 65535\n\t\tSM lid: 0\n\t\tLink layer: InfiniBand", "ib.port.init", "link", "suspect", "mlx5_3/1"),
    ("CA 'mlx5_3'\n\tCA type: MT4129\n\tPort 1:\n\t\tState: Active\n\t\tPhysical state: LinkUp\n\t\tRate: 100\n\t\tBase lid: 12\n\t\tSM lid: 1\n\t\tLink layer: InfiniBand\nCA 'mlx5_4'\n\tCA type: MT4129\n\tPort 1:\n\t\tState: Active\n\t\tPhysical state: LinkUp\n\t\tRate: 400\n\t\tBase lid: 13\n\t\tSM lid: 1\n\t\tLink layer: InfiniBand\nCA 'mlx5_5'\n\tCA type: MT4129\n\tPort 1:\n\t\tState: Active\n\t\tPhysical state: LinkUp\n\t\tRate: 400\n\t\tBase lid: 14\n\t\tSM lid: 1\n\t\tLink layer: InfiniBand\nCA 'mlx5_6'\n\tCA type: MT4129\n\tPort 1:\n\t\tState: Active\n\t\tPhysical state: LinkUp\n\t\tRate: 400\n\t\tBase lid: 15\n\t\tSM lid: 1\n\t\tLink layer: InfiniBand", "ib.port.slow", "link", "suspect", "mlx5_3/1"),
    ("Infiniband device 'mlx5_2' port 1 status:\n\tdefault gid:\t fe80::1\n\tbase lid:\t 0xffff\n\tsm lid:\t\t 0x0\n\tstate:\t\t 1: DOWN\n\tphys state:\t 2: Polling\n\trate:\t\t 10 Gb/sec (4X SDR)\n\tlink_layer:\t InfiniBand", "ib.port.polling", "link", "suspect", "mlx5_2/1"),
    ("[  812.345678] mlx5_core 0000:ca:00.0: mlx5_cmd_out_err:808:(pid 12): ACCESS_REG(0x805) op_mod(0x1) failed, status bad resource state(0x9), syndrome (0x305684), err(-22)\n[  812.345679] mlx5_core 0000:ca:00.0: wait_func:1151:(pid 8): QUERY_VPORT_STATE(0x750) timeout. Will cause a leak of a command resource", "nic.cmd.timeout", "node", "fail", "0000:ca:00"),
    ("[  812.345678] mlx5_core 0000:ca:00.0: poll_health:802:(pid 0): Fatal error 1 detected", "nic.health", "node", "fail", "0000:ca:00"),
    ("[  812.345678] mlx5_core 0000:ca:00.0: Port module event[error]: module 0, Cable error, Bus stuck (I2C or data shorted)", "nic.module.error", "node", "suspect", "0000:ca:00"),
    # drives and file systems
    ("[  812.345678] nvme nvme4: controller is down; will reset: CSTS=0xffffffff, PCI_STATUS=0xffff", "nvme.controller.dead", "node", "fail", "nvme4"),
    ("[  812.345678] nvme nvme4: Removing after probe failure status: -19", "nvme.controller.dead", "node", "fail", "nvme4"),
    ("[  812.345678] blk_update_request: I/O error, dev nvme4n1, sector 123456 op 0x0:(READ) flags 0x0 phys_seg 1 prio class 0", "disk.io_error", "node", "suspect", "nvme4n1"),
    ("[  812.345678] print_req_error: critical medium error, dev sdc, sector 123456", "disk.medium_error", "node", "fail", "sdc"),
    ("[  812.345678] XFS (nvme1n1): log I/O error -5\n[  812.345690] XFS (nvme1n1): Filesystem has been shut down due to log error (0x2).", "host.fs.error", "node", "suspect", "nvme1n1"),
    ("[  812.345678] EXT4-fs (nvme0n1p2): Remounting filesystem read-only", "host.fs.readonly", "node", "fail", "nvme0n1p2"),
    # memory and processors
    ("[  812.345678] mce: [Hardware Error]: CPU 3: Machine Check Exception: 4 Bank 7: be00000000800400\n[  812.345679] Kernel panic - not syncing: Fatal machine check", "host.mce.fatal", "node", "fail", ""),
    ("[  812.345678] [Hardware Error]: Corrected error, no action required.\n[  812.345679] [Hardware Error]: CPU:0 (19:1:1) MC17_STATUS[Over|CE|MiscV|AddrV|-|-|SyndV|CECC|-|-|-]: 0xdc2040000000011b", "host.mce.corrected", "node", "note", ""),
    ("[  812.345678] EDAC amd64: MC0: 1 UE on mc#0csrow#1channel#3 (csrow:1 channel:3 page:0x3f offset:0x0 grain:64)", "host.edac.ue", "node", "fail", "mc#0csrow#1channel#3"),
    ("[  812.345678] Memory failure: 0x1a2b3c: recovery action for huge page: Recovered", "host.memory.poison", "node", "suspect", ""),
    ("[    1.234567] BERT: Error records from previous boot:\n[    1.234568] [Hardware Error]: event severity: fatal\n[    1.234569] [Hardware Error]:  Error 0, type: fatal\n[    1.234570] [Hardware Error]:   section_type: memory error", "host.cper.fatal", "node", "fail", ""),
    ("[  812.345678] watchdog: BUG: soft lockup - CPU#93 stuck for 22s! [kworker/93:1:812]", "host.lockup", "node", "fail", ""),
    ("[  812.345678] rcu: INFO: rcu_preempt self-detected stall on CPU\n[  812.345679] rcu: \t12-....: (5249 ticks this GP) idle=1a2/1/0x40 softirq=0/0", "host.rcu_stall", "node", "fail", ""),
    ("[  812.345678] BUG: unable to handle kernel NULL pointer dereference at 0000000000000008", "host.oops", "node", "fail", ""),
    # PCI Express
    ("[  812.345678] pcieport 0000:c9:01.0: AER: Multiple Uncorrected (Fatal) error received: 0000:ca:00.0", "pcie.aer.fatal", "node", "fail", "0000:c9:01"),
    ("[  812.345678] pcieport 0000:c9:01.0: pciehp: Slot(81): Link Down\n[  812.345699] pcieport 0000:c9:01.0: pciehp: Slot(81): Card not present", "pcie.link_down", "node", "fail", "0000:c9:01"),
    ("[  812.345678] pcieport 0000:c9:01.0: AER: Correctable error message received from 0000:ca:00.0\n[  812.345679] nvidia 0000:ca:00.0: PCIe Bus Error: severity=Correctable, type=Data Link Layer, (Transmitter ID)\n[  812.345680] nvidia 0000:ca:00.0:   device [10de:2330] error status/mask=00000100/0000a000\n[  812.345681] nvidia 0000:ca:00.0:    [ 8] Rollover", "pcie.aer.corrected.replay", "node", "suspect", "0000:ca:00"),
    ("4e:00.0 3D controller: NVIDIA Corporation GA100 [A100 SXM4 80GB] (rev ff)", "gpu.lost", "gpu", "fail", "0000:4e:00"),
    ("ca:00.0 Infiniband controller: Mellanox Technologies MT2910 Family [ConnectX-7] (rev ff)", "pci.device.lost", "node", "fail", "0000:ca:00"),
    # AMD
    ("[  812.345678] amdgpu 0000:c3:00.0: amdgpu: ring sdma0 timeout, signaled seq=1234, emitted seq=1236\n[  812.345690] amdgpu 0000:c3:00.0: amdgpu: GPU reset begin!\n[  813.345690] amdgpu 0000:c3:00.0: amdgpu: GPU reset(2) failed", "gpu.amd.reset_failed", "gpu", "fail", "0000:c3:00"),
    ("[  812.345678] [drm:amdgpu_job_timedout [amdgpu]] *ERROR* ring gfx_0.0.0 timeout, signaled seq=52, emitted seq=54", "gpu.amd.ring_timeout", "gpu", "suspect", ""),
    ("[  812.345678] amdgpu 0000:c3:00.0: amdgpu: [mmhub0] no-retry page fault (src_id:0 ring:64 vmid:8 pasid:32778, for process python3 pid 8812 thread python3 pid 8812)", "gpu.amd.page_fault", "application", "note", "0000:c3:00"),
    # collectives
    ("[rank5]:[E305 03:12:44.123456789 ProcessGroupNCCL.cpp:616] [Rank 5] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=812, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for 600012 milliseconds before timing out.", "nccl.timeout", "application", "note", ""),
    ("gpu-n12:812:899 [3] transport/net_ib.cc:1296 NCCL WARN NET/IB : Got completion from peer 10.0.0.7<41234> with status=12 opcode=0 len=0 vendor err 129 (Recv) localGid fe80::1 remoteGids fe80::2 hca mlx5_3", "nccl.ib.completion", "link", "suspect", "mlx5_3/1"),
    ("torch.distributed.DistBackendError: NCCL error in: ../torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp:1333, remote process exited or there was a network error, NCCL version 2.20.5\nncclRemoteError: A call failed possibly due to a network error or a remote process exiting prematurely.", "nccl.peer_gone", "application", "note", ""),
    ("gpu-n12:812:899 [3] NCCL WARN Cuda failure 214 'uncorrectable ECC error encountered'", "gpu.ecc.uncorrectable", "gpu", "fail", ""),
    # fabric manager and services
    ("[Mar 05 2024 03:12:44] [ERROR] [tid 4711] detected NVSwitch fatal error 12028 on fid 0 on NVSwitch pci bus id 00000000:C1:00.0 physical id 8 port 33", "fabric.nvswitch.fatal", "fabric", "fail", "0000:c1:00"),
    ("Mar 05 03:12:44 hgx3 nv-fabricmanager[4711]: fabric manager NVIDIA GPU driver interface version 535.104.12 don't match with driver version 535.129.03. Please update with matching NVIDIA driver package.", "fabric.version_mismatch", "node", "fail", ""),
    ("Mar 05 03:12:44 hgx3 systemd[1]: nvidia-persistenced.service: Failed with result 'exit-code'.", "host.service.failed", "node", "suspect", "nvidia-persistenced.service"),
    # Slurm
    ("NodeName=gpu-n12 Arch=x86_64 CoresPerSocket=48\n   State=DOWN*+DRAIN ThreadsPerCore=2 TmpDisk=0 Weight=1\n   Reason=Not responding [slurm@2024-03-05T03:12:44]", "slurm.node.not_responding", "node", "fail", "gpu-n12"),
    ("   Reason=NHC: check_hw_ib:  No IB port mlx5_3:1 is ACTIVE (LinkUp 400 Gb/sec). [root@2024-03-05T03:12:44]", "slurm.node.health_check", "node", "suspect", ""),
    ("Reason=gres/gpu count reported lower than configured (7 < 8) [slurm@2024-03-05T03:12:44]", "slurm.node.gres_missing", "node", "fail", ""),
    ("REASON               USER      TIMESTAMP           NODELIST\nKill task failed     root      2024-03-05T03:12:44 gpu-n[12,17]", "slurm.node.kill_task_failed", "node", "suspect", "gpu-n12"),
    ("error: Node gpu-n12 has low real_memory size (1019000 < 1031000)", "slurm.node.low_memory", "node", "suspect", "gpu-n12"),
    ("[2024-03-05T03:12:44.123] error: Setting node gpu-n12 state to DRAIN with reason:gres/gpu count reported lower than configured (7 < 8)", "slurm.node.gres_missing", "node", "fail", "gpu-n12"),
    # outputs in part
    ("    Retired Pages\n        Single Bit ECC                    : 0\n        Double Bit ECC                    : 2\n        Pending Page Blacklist            : Yes", "gpu.retired_pages.pending", "gpu", "fail", ""),
    ("    Remapped Rows\n        Correctable Error                 : 0\n        Uncorrectable Error               : 9\n        Pending                           : No\n        Remapping Failure Occurred        : Yes", "gpu.row_remap.failure", "gpu", "fail", ""),
    ("        HW Slowdown                       : Active\n            HW Thermal Slowdown           : Active\n            HW Power Brake Slowdown       : Not Active", "gpu.throttle.hw", "gpu", "fail", ""),
    ("    Fabric\n        State                             : In Progress\n        Status                            : N/A", "fabric.state", "fabric", "suspect", ""),
    ("GPU 0: OK\nGPU 1: OK\nGPU 2: FAULTY\nGPU 3: OK", "gpu.memory.miscompute", "gpu", "fail", "gpu:2"),
    # sentences
    ("(prose of the issue) after the reboot one GPU is missing, nvidia-smi lists only 7", "gpu.missing", "gpu", "fail", ""),
    ("(described) the InfiniBand port stays in polling on mlx5_4, the cable was swapped", "ib.port.polling", "link", "suspect", "mlx5_4"),
    ("(screenshot described) GPU 2 power ERR!, others normal", "gpu.sensor.unreadable", "gpu", "suspect", "gpu:2"),
    ("(smartctl -a, a drive of 2019) Percentage Used about 131%", "nvme.worn", "node", "suspect", ""),
    ("(prose) NVLinks are all up but NVLink P2P is dead and collectives fall back to PCIe", "gpu.p2p.dead", "fabric", "fail", ""),
    ("we see that nvidia-smi hangs on that node since this morning", "gpu.hung", "gpu", "fail", ""),
    ("all_reduce on 4 nodes: busbw is only 40 GB/s, half of what the others get", "nccl.bandwidth.low", "link", "suspect", ""),
    # load balancers
    ("https 2024-03-05T03:12:44.123456Z app/llm/0123456789abcdef 10.1.2.3:4711 10.2.3.4:8000 0.001 8.123 -1 502 - 812 277 \"POST https://llm.example:443/v1/chat/completions HTTP/1.1\" \"curl/8\" - -", "lb.balancer.502", "application", "suspect", "10.2.3.4:8000"),
    ("2024-03-05T03:12:44.123456Z lb-x 10.1.2.3:4711 10.2.3.4:80 0.0001 0.001 0.0001 500 500 566 326 \"POST http://lb.example:80/ HTTP/1.1\" \"curl/8\" - -", "lb.target.500", "application", "suspect", "10.2.3.4:80"),
]  # fmt: skip
"""(text, code or the beginning of it, scope, severity - empty: any but a note -, device - empty: any)."""
HARMLESS = [
    "[    8.123456] NVRM: loading NVIDIA UNIX x86_64 Kernel Module  535.129.03  Thu Oct 19 18:56:32 UTC 2023",
    "[    8.123456] nvidia-nvlink: Nvlink Core is being initialized, major device number 510",
    "[    8.123456] nvidia-nvswitch0: open (major=509)",
    "[    8.123456] nvidia 0000:4e:00.0: enabling device (0140 -> 0142)",
    "[    8.123456] [drm] Initialized nvidia-drm 0.0.0 20160202 for 0000:4e:00.0 on minor 1",
    "[    8.123456] pcieport 0000:c9:01.0: AER: enabled with IRQ 123",
    "[    8.123456] EDAC MC0: Giving out device to module i10nm_edac controller Ice Lake Socket#0 IMC#0: DEV 0000:fe:0c.0 (INTERRUPT)",
    "[    8.123456] EDAC MC: Ver: 3.0.0",
    "[    8.123456] mce: CPU0: Thermal monitoring enabled (TM1)",
    "[    8.123456] mlx5_core 0000:ca:00.0: firmware version: 28.39.1002",
    "[    8.123456] mlx5_core 0000:ca:00.0: 504.112 Gb/s available PCIe bandwidth (32.0 GT/s PCIe x16 link)",
    "[    8.123456] mlx5_core 0000:ca:00.0: Port module event: module 0, Cable plugged",
    "[    8.123456] nvme nvme0: 32/0/0 default/read/poll queues",
    "[    8.123456] nvme nvme0: missing or invalid SUBNQN field.",
    "[    8.123456] amdgpu 0000:c3:00.0: amdgpu: RAS: optional ras ta ucode is not available",
    "[    8.123456] XFS (nvme1n1): Mounting V5 Filesystem",
    "[    8.123456] EXT4-fs (sda2): re-mounted. Opts: errors=remount-ro",
    "[    8.123456] ACPI: PCI Interrupt Link [LNKA] (IRQs 3 4 5 *11)",
    "[    8.123456] perf: interrupt took too long (2501 > 2500), lowering kernel.perf_event_max_sample_rate to 79750",
    "Mar  5 03:12:44 gpu-n12 systemd[1]: Started NVIDIA Persistence Daemon.",
    "Mar  5 03:12:44 gpu-n12 systemd[1]: Starting nvidia-fabricmanager.service - NVIDIA fabric manager service...",
    "Mar  5 03:12:44 gpu-n12 nvidia-persistenced[812]: Started (812)",
    "Mar  5 03:12:44 gpu-n12 sshd[4711]: Accepted publickey for root from 10.0.0.7 port 41234 ssh2",
    "Mar  5 03:12:44 gpu-n12 CRON[4711]: (root) CMD (/usr/local/bin/check_xid.sh --fatal 79)",
    "Mar  5 03:12:44 gpu-n12 dockerd[4711]: time=\"2024-03-05T03:12:44Z\" level=info msg=\"Loading containers: done.\"",
    "kernel.hung_task_timeout_secs = 120",
    "sysctl -w kernel.hung_task_timeout_secs=0  # no 'blocked for more than' messages",
    "What does Xid 79 mean? Is my GPU dead?",
    "Xid 79 means that the GPU has fallen off the bus, see https://docs.nvidia.com/deploy/xid-errors/",
    "If you see 'CUDA error: uncorrectable ECC error encountered', the GPU may be broken: what is the next step?",
    "How do I read NVLink error counters? nvidia-smi nvlink -e prints zeros.",
    "| 79 | GPU has fallen off the bus | HW Error |",
    "all GPUs are healthy and all links are up",
    "busbw of 480 GB/s with NVLS, 370 GB/s with ring on 8 H100",
    "we fixed it: after the reboot no GPU is missing and nvidia-smi no longer hangs",
    _SMI_HEAD + _ROW.format("0", " 31", " 58W"),
    "    ECC Mode\n        Current                           : Enabled\n        Pending                           : Enabled",
    'DCGM_FI_DEV_XID_ERRORS{gpu="3",UUID="GPU-12",Hostname="gpu-n12"} 0\nDCGM_FI_DEV_ROW_REMAP_FAILURE{gpu="3"} 0',
    "Conditions:\n  Type             Status  LastHeartbeatTime                 Reason                       Message\n  MemoryPressure   False   Mon, 04 Mar 2024 10:00:00 +0000   KubeletHasSufficientMemory   kubelet has sufficient memory available\n  Ready            True    Mon, 04 Mar 2024 10:00:00 +0000   KubeletReady                 kubelet is posting ready status",
    "  Warning  FailedScheduling  2m40s  default-scheduler  0/8 nodes are available: 7 Insufficient nvidia.com/gpu.",
    "gpu-n12:812:899 [3] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/IB [RO]; OOB eno1:10.0.0.12<0>",
    "CA 'mlx5_3'\n\tCA type: MT4129\n\tPort 1:\n\t\tState: Active\n\t\tPhysical state: LinkUp\n\t\tRate: 400\n\t\tBase lid: 12\n\t\tSM lid: 1\n\t\tLink layer: InfiniBand",
    "GPU 0: OK\nGPU 1: OK",
    "4e:00.0 3D controller: NVIDIA Corporation GA100 [A100 SXM4 80GB] (rev a1)",
    "Traceback (most recent call last):\n  File \"train.py\", line 8, in <module>\nValueError: learning rate is negative",
    "I0305 06:31:04.123456       1 main.go:154] Starting FS watcher.\nI0305 06:31:04.123470       1 server.go:165] Starting GRPC server for 'nvidia.com/gpu'",
]  # fmt: skip
