/** Smallest valid objects of the taint eviction controller's tests. */
import type { Node, Pod, Taint, Toleration } from '@gyropilot/api'

export function noExecute(key: string, value = ''): Taint {
  return { key, value, effect: 'NoExecute' }
}

/** For ever without seconds. */
export function tolerating(key: string, seconds?: number): Toleration {
  const toleration: Toleration = { key, operator: 'Exists', effect: 'NoExecute' }
  if (seconds === undefined) return toleration
  return { ...toleration, tolerationSeconds: seconds }
}

interface PodOptions {
  readonly node?: string
  readonly uid?: string
  readonly tolerations?: readonly Toleration[]
  readonly status?: Pod['status']
}

/** Of namespace `test`, on node `n`. */
export function pod(name: string, options: PodOptions = {}): Pod {
  const { node = 'n', uid = `${name}-uid`, tolerations, status = { phase: 'Running' } } = options
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'test', uid, generation: 2 },
    spec: {
      containers: [{ name: 'c', image: 'i' }],
      ...(node === '' ? {} : { nodeName: node }),
      ...(tolerations === undefined ? {} : { tolerations }),
    },
    status,
  }
}

export function node(name: string, ...taints: readonly Taint[]): Node {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, uid: `${name}-uid` },
    spec: taints.length === 0 ? {} : { taints },
  }
}
