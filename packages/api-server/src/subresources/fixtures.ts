/** Servers with a namespace, and the nodes they ask. */
import { makeNamespace, startServer } from '../bootstrap/fixtures.ts'
import type { TestServer } from '../bootstrap/fixtures.ts'
import type { Draft } from '@gyropilot/schema/objects'
import type { Kubelet, Kubelets } from '../kubelets/kubelet.ts'

/** Every node is this one; what is not given does not exist. */
export function fixedKubelets(given: Partial<Kubelet>): Kubelets {
  const kubelet: Kubelet = {
    logs: () => undefined,
    exec: () => undefined,
    attach: () => undefined,
    forward: () => Promise.resolve('connection refused'),
    usage: () => ({ node: { cpuNanoCores: 0, memoryBytes: 0 }, pods: [] }),
    ...given,
  }
  return { kubeletOf: () => kubelet }
}

export async function inNamespace(kubelets?: Kubelets): Promise<TestServer & { ns: string }> {
  const server = await startServer(kubelets === undefined ? {} : { kubelets })
  return { ...server, ns: await makeNamespace(server, 'a') }
}

export const binding = (name: string, node = 'n1', metadata: Draft = {}): Draft => ({
  apiVersion: 'v1',
  kind: 'Binding',
  metadata: { name, ...metadata },
  target: { kind: 'Node', name: node },
})
export const SUCCESS = {
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Success',
  code: 201,
}
