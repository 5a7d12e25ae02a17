/** What a simulated kubelet answers on its own port. Contract: docs/behaviour/api-server/subresources-and-admission.md, "Proxy". */
import type { SubresourceAnswer, SubresourceCall } from '../contracts.ts'
import type { Stored } from '@gyropilot/schema/objects'
import { stringifyExact } from '@gyropilot/foundation/exact-json'
import { kubeletMetrics } from './kubelet-metrics.ts'
import { kubeletSummary } from './kubelet-summary.ts'
import type { Kubelet } from '../kubelets/kubelet.ts'

/** /var/log of a simulated machine, as Go's file server lists it. */
const EMPTY_FOLDER =
  '<!doctype html>\n<meta name="viewport" content="width=device-width">\n<pre>\n</pre>\n'

export function kubeletPage(
  call: SubresourceCall,
  nodeName: string,
  kubelet: Kubelet,
): SubresourceAnswer {
  if (call.method !== 'GET') return plain(405, '405: Method Not Allowed\n')
  switch (call.passed!.path) {
    case '/healthz':
      return plain(200, 'ok')
    case '/pods':
    case '/pods/':
      return json({
        kind: 'PodList',
        apiVersion: 'v1',
        metadata: {},
        items: podsOn(call, nodeName),
      })
    case '/runningpods':
      return { ...plain(307, ''), headers: { location: `${call.passed!.ownPath}/runningpods/` } }
    case '/runningpods/': {
      const items = podsOn(call, nodeName).filter(hasSandbox).map(asTheRuntimeKnowsIt)
      return json({ kind: 'PodList', apiVersion: 'v1', metadata: {}, items: filled(items) })
    }
    case '/logs/':
      return { code: 200, body: EMPTY_FOLDER, contentType: 'text/html; charset=utf-8' }
    case '/stats/summary':
      return json(kubeletSummary(call, nodeName, kubelet))
    default: {
      const body = kubeletMetrics(call.passed!.path, call, nodeName, kubelet)
      if (body === undefined) return plain(404, '404 page not found\n')
      return { code: 200, body, contentType: 'text/plain; version=0.0.4; charset=utf-8' }
    }
  }
}

function podsOn({ server }: SubresourceCall, nodeName: string): readonly Stored[] {
  return server.list('', 'pods').filter((pod) => pod['spec'].nodeName === nodeName)
}

function hasSandbox({ status }: Stored): boolean {
  const conditions: readonly Stored[] = status?.conditions ?? []
  return conditions.some(
    ({ type, status: is }) => type === 'PodReadyToStartContainers' && is === 'True',
  )
}

/** Of the object only what a container runtime keeps: whose the sandbox is, and what runs in it. */
function asTheRuntimeKnowsIt({ metadata: { name, namespace, uid }, status }: Stored): object {
  const statuses: readonly Stored[] = [
    ...(status?.initContainerStatuses ?? []),
    ...(status?.containerStatuses ?? []),
    ...(status?.ephemeralContainerStatuses ?? []),
  ]
  const containers = statuses
    .filter(({ state }) => state?.running !== undefined)
    .map((one) => ({ name: one['name'], image: one['image'], resources: {} }))
  return {
    metadata: { name, namespace, uid },
    spec: { containers: filled(containers) },
    status: {},
  }
}

/** A list without entries is null there, as nothing was ever put into it. */
function filled<Item>(items: readonly Item[]): readonly Item[] | null {
  return items.length === 0 ? null : items
}

function plain(code: number, text: string): SubresourceAnswer {
  return { code, body: text, contentType: 'text/plain; charset=utf-8' }
}

function json(value: object): SubresourceAnswer {
  return { code: 200, body: stringifyExact(value), contentType: 'application/json' }
}
