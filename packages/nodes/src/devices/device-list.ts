/** What annotation `sim.kubelet/devices` of a node says. Contract: docs/behaviour/simulation/kubelet.md, Devices. Pure. */
import type { DeviceClass, Node, ResourceSlice } from '@gyropilot/api'
import { dnsSubdomainProblems } from '@gyropilot/api'

export const DEVICES_ANNOTATION = 'sim.kubelet/devices'
/** As many as one slice may list. */
const DEVICES_MAX = 128

/** Devices by driver: `gpu.example.com=4,nic.example.com=2`. A part that says neither is told of and left out. */
export function devicesOf(
  node: Node,
  report: (problem: string) => void,
): ReadonlyMap<string, number> {
  const text = node.metadata?.annotations?.[DEVICES_ANNOTATION] ?? ''
  const counts = new Map<string, number>()
  for (const part of text.split(',').map((each) => each.trim())) {
    if (part === '') continue
    const [driver = '', count = '', ...more] = part.split('=')
    const isDriver = dnsSubdomainProblems(driver).length === 0 && driver.length <= 63
    const isCount = /^\d{1,3}$/.test(count) && Number(count) <= DEVICES_MAX && more.length === 0
    if (isDriver && isCount) counts.set(driver, Number(count))
    else
      report(
        `annotation ${DEVICES_ANNOTATION}: ${JSON.stringify(part)} is not a driver and its devices, at most ${DEVICES_MAX}: gpu.example.com=4`,
      )
  }
  return counts
}

/** The pool of the node, one slice. Owned by the node, and gone with it. */
export function sliceOf(
  node: Node,
  driver: string,
  count: number,
  generation: number,
): ResourceSlice {
  const { name = '', uid = '' } = node.metadata ?? {}
  return {
    apiVersion: 'resource.k8s.io/v1',
    kind: 'ResourceSlice',
    metadata: {
      name: sliceName(name, driver),
      ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name, uid, controller: true }],
    },
    spec: {
      driver,
      nodeName: name,
      pool: { name, generation, resourceSliceCount: 1 },
      devices: Array.from({ length: count }, (_, index) => ({
        name: `${kindOf(driver)}-${index}`,
        attributes: { index: { int: index }, model: { string: 'simulated' } },
        capacity: { memory: { value: '16Gi' } },
      })),
    },
  }
}

export function sliceName(nodeName: string, driver: string): string {
  return `${nodeName}-${driver}`
}

/** Every device of the driver. */
export function classOf(driver: string): DeviceClass {
  return {
    apiVersion: 'resource.k8s.io/v1',
    kind: 'DeviceClass',
    metadata: { name: driver },
    spec: { selectors: [{ cel: { expression: `device.driver == ${JSON.stringify(driver)}` } }] },
  }
}

/** `gpu` of `gpu.example.com`. */
function kindOf(driver: string): string {
  return driver.split('.')[0]!
}
