import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PrometheusRegistry, VirtualClock } from '@gyropilot/foundation'
import { parseRequestInfo } from '../http/request-info.ts'
import { createTestServer, turn } from '../testing/test-server.ts'
import { RequestMetrics } from './request-metrics.ts'

const MAPS = '/api/v1/namespaces/default/configmaps'

async function measuredServer() {
  const metrics = new PrometheusRegistry()
  const server = await createTestServer({ metrics })
  const lines = async (name: string): Promise<string[]> => {
    const { value } = await server.request('GET', '/metrics')
    return (value as string).split('\n').filter((line) => line.startsWith(`${name}{`))
  }
  return { ...server, lines }
}

test('requests are counted by verb, resource, scope and code', async () => {
  const { request, lines } = await measuredServer()
  await request('POST', `${MAPS}?dryRun=All`, { metadata: { name: 'a' } })
  await request('POST', MAPS, { metadata: { name: 'a' } })
  await request('POST', MAPS, { metadata: { name: 'a' } })
  await request('GET', MAPS)
  await request('GET', '/api/v1/configmaps')
  await request('GET', `${MAPS}/a`)
  const apply = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { a: 'b' } }
  await request('PATCH', `${MAPS}/a?fieldManager=me`, apply, {
    'content-type': 'application/apply-patch+yaml',
  })
  await request('DELETE', MAPS)
  const counted = (await lines('apiserver_request_total')).filter((line) =>
    line.includes('configmaps'),
  )
  const line = (verb: string, scope: string, code: number, dryRun = ''): string =>
    `apiserver_request_total{code="${code}",component="apiserver",dry_run="${dryRun}",group="",resource="configmaps",scope="${scope}",subresource="",system_client="",verb="${verb}",version="v1"} 1`
  assert.deepEqual(counted, [
    line('LIST', 'cluster', 200),
    line('DELETE', 'namespace', 200),
    line('LIST', 'namespace', 200),
    line('APPLY', 'resource', 200),
    line('GET', 'resource', 200),
    line('POST', 'resource', 201),
    line('POST', 'resource', 201, 'All'),
    line('POST', 'resource', 409),
  ])
  const durations = await lines('apiserver_request_duration_seconds_bucket')
  const bounds = durations
    .filter((text) => text.includes('configmaps') && text.includes('verb="APPLY"'))
    .map((text) => /le="([^"]+)"/.exec(text)![1])
  assert.deepEqual(
    [bounds[0], bounds.at(-2), bounds.at(-1), bounds.length],
    ['0.005', '60', '+Inf', 24],
  )
})

test('programs of the control plane are told apart by what they call themselves', async () => {
  const { request, lines } = await measuredServer()
  for (const agent of [
    'kube-scheduler/v1.36.0 (linux/amd64) kubernetes/abc',
    'kube-controller-manager/x',
    'kube-apiserver/x/shared',
    'kube-scheduler',
    ' kube-scheduler/x',
    'kubelet/v1',
    'cloud-controller-manager/v1',
  ])
    await request('GET', `${MAPS}/none`, undefined, { 'user-agent': agent })
  const counted = (await lines('apiserver_request_total')).flatMap((line) => {
    const shown = /resource="configmaps".*system_client="([^"]*)".* (\d)$/.exec(line)
    return shown === null ? [] : [`${shown[1]} ${shown[2]}`]
  })
  assert.deepEqual(counted, [
    ' 4',
    'kube-apiserver 1',
    'kube-controller-manager 1',
    'kube-scheduler 1',
  ])
})

test('paths that nobody serves leave no series behind, whatever they are called', async () => {
  const { request, lines } = await measuredServer()
  for (const path of [
    '/nothing',
    '/api/v1/nothing',
    '/apis/no.such/v1/things',
    '/apis/apps/v9/deployments',
  ])
    assert.equal((await request('GET', path)).status, 404)
  const counted = (await lines('apiserver_request_total')).join('\n')
  assert.doesNotMatch(counted, /nothing|no\.such|v9/)
})

test('a watch is open while it runs, its events are counted, and it counts as a request when it ends', async () => {
  const { request, watch, lines } = await measuredServer()
  const running = await watch(`${MAPS}?watch=true`)
  await request('POST', MAPS, { metadata: { name: 'a' } })
  await request('DELETE', `${MAPS}/a`)
  const open =
    'apiserver_longrunning_requests{component="apiserver",group="",resource="configmaps",scope="namespace",subresource="",verb="WATCH",version="v1"}'
  assert.deepEqual(await lines('apiserver_longrunning_requests'), [`${open} 1`])
  assert.deepEqual(await lines('apiserver_watch_events_total'), [
    'apiserver_watch_events_total{group="",resource="configmaps",version="v1"} 2',
  ])
  const ended = async () =>
    (await lines('apiserver_request_total')).filter((line) => line.includes('verb="WATCH"')).length
  assert.equal(await ended(), 0)
  running.stop()
  await turn()
  assert.deepEqual(await lines('apiserver_longrunning_requests'), [`${open} 0`])
  assert.equal(await ended(), 1)
})

test('a followed log is open until it ends, and counts as a request then', async () => {
  const metrics = new PrometheusRegistry()
  const none = (): undefined => undefined
  const { promise: ended, resolve: end } = Promise.withResolvers<void>()
  async function* lines(): AsyncGenerator<string> {
    yield 'one\n'
    await ended
  }
  const kubelet = {
    logs: lines,
    exec: none,
    attach: none,
    forward: async () => undefined,
    usage: () => ({ node: { cpuNanoCores: 0, memoryBytes: 0 }, pods: [] }),
  }
  const { request, server } = await createTestServer({
    metrics,
    kubelets: { kubeletOf: () => kubelet },
  })
  const addresses = [{ type: 'InternalIP', address: '10.0.0.1' }]
  await request('POST', '/api/v1/nodes', { metadata: { name: 'n' } })
  await request(
    'PATCH',
    '/api/v1/nodes/n/status',
    { status: { addresses } },
    {
      'content-type': 'application/merge-patch+json',
    },
  )
  await request('POST', '/api/v1/namespaces/default/serviceaccounts', {
    metadata: { name: 'default' },
  })
  const pods = '/api/v1/namespaces/default/pods'
  const spec = { nodeName: 'n', containers: [{ name: 'a', image: 'a' }] }
  await request('POST', pods, { metadata: { name: 'p' }, spec })
  const headers = { authorization: 'Bearer test-token' }
  const { body } = await server.handle({
    method: 'GET',
    path: `${pods}/p/log?follow=true`,
    headers,
  })
  assert.ok(body.kind === 'bytes')
  const reader = body.chunks[Symbol.asyncIterator]()
  assert.equal(Buffer.from((await reader.next()).value).toString(), 'one\n')
  const open = (): string[] =>
    metrics
      .expose()
      .split('\n')
      .filter((line) => /^apiserver_longrunning.*subresource="log"/.test(line))
  assert.match(open()[0]!, /verb="CONNECT".* 1$/)
  const counted = (): number =>
    metrics.expose().match(/^apiserver_request_total.*subresource="log"/gm)?.length ?? 0
  assert.equal(counted(), 0)
  end()
  assert.equal((await reader.next()).done, true)
  assert.match(open()[0]!, / 0$/)
  assert.equal(counted(), 1)
})

test('stored objects are counted by resource, also when the last is gone', async () => {
  const { request, lines } = await measuredServer()
  const leases = '/apis/coordination.k8s.io/v1/namespaces/default/leases'
  const count = async () => [
    ...(await lines('apiserver_resource_objects')).filter((line) => line.includes('leases')),
    ...(await lines('apiserver_storage_objects')).filter((line) => line.includes('leases')),
  ]
  await request('POST', leases, { metadata: { name: 'a' } })
  assert.deepEqual(await count(), [
    'apiserver_resource_objects{group="coordination.k8s.io",resource="leases"} 1',
    'apiserver_storage_objects{resource="leases.coordination.k8s.io"} 1',
  ])
  await request('DELETE', `${leases}/a`)
  assert.deepEqual(
    (await count()).map((line) => line.at(-1)),
    ['0', '0'],
  )
})

test('the asking request itself is the one in flight', async () => {
  const { lines } = await measuredServer()
  assert.deepEqual(await lines('apiserver_current_inflight_requests'), [
    'apiserver_current_inflight_requests{request_kind="mutating"} 0',
    'apiserver_current_inflight_requests{request_kind="readOnly"} 1',
  ])
})

test('/metrics needs the right to get that path', async () => {
  const { request } = await measuredServer()
  const anonymous = await request('GET', '/metrics', undefined, { authorization: undefined })
  assert.deepEqual(
    [anonymous.status, anonymous.value.message],
    [403, 'forbidden: User "system:anonymous" cannot get path "/metrics"'],
  )
  const token = await request('POST', '/api/v1/namespaces/default/serviceaccounts', {
    metadata: { name: 'scraper' },
  })
  assert.equal(token.status, 201)
  await request('POST', '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
    metadata: { name: 'scraper' },
    roleRef: {
      apiGroup: 'rbac.authorization.k8s.io',
      kind: 'ClusterRole',
      name: 'system:monitoring',
    },
    subjects: [{ kind: 'ServiceAccount', name: 'scraper', namespace: 'default' }],
  })
  const as = { 'impersonate-user': 'system:serviceaccount:default:scraper' }
  assert.equal((await request('GET', '/metrics', undefined, as)).status, 200)
  assert.equal((await request('GET', '/apis', undefined, as)).status, 200)
  assert.equal((await request('GET', '/debug/pprof', undefined, as)).status, 403)
})

test('a reader who leaves a silent log reaches it through the count of open streams', async () => {
  let whenLeft = (): void => {}
  const left = new Promise<void>((resolve) => (whenLeft = resolve))
  const chunks: AsyncIterable<Uint8Array> = {
    [Symbol.asyncIterator]: () => ({
      next: () => new Promise(() => {}),
      async return() {
        whenLeft()
        return { done: true, value: undefined }
      },
    }),
  }
  const registry = new PrometheusRegistry()
  const measure = new RequestMetrics(registry, new VirtualClock({ settle: turn }))
  const path = '/api/v1/namespaces/a/pods/p/log'
  const answer = await measure.measure(
    parseRequestInfo('GET', path)!,
    { method: 'GET', path, headers: {} },
    Promise.resolve({ status: 200, body: { kind: 'stream', chunks, contentType: 'text/plain' } }),
  )
  assert.equal(answer.body.kind, 'stream')
  const measured = (answer.body as { chunks: typeof chunks }).chunks[Symbol.asyncIterator]()
  const open = (): string => /^apiserver_longrunning_requests.* (\d)$/m.exec(registry.expose())![1]!
  void measured.next()
  assert.equal(open(), '1')
  await measured.return!()
  await left
  assert.equal(open(), '0')
  await measured.return!()
  assert.match(registry.expose(), /^apiserver_request_total.* 1$/m)
})

test('methods that nobody knows make no series of their own', async () => {
  const { server, lines } = await measuredServer()
  for (const method of ['BREW', 'BREW2', 'BREW3'])
    await server.handle({
      method,
      path: '/healthz',
      headers: { authorization: 'Bearer test-token' },
    })
  const verbs = (await lines('apiserver_request_total')).flatMap((line) =>
    line.includes('subresource="/healthz"') ? /verb="([^"]*)"/.exec(line)![1] : [],
  )
  assert.deepEqual(verbs, ['other'])
})

test('discovery is counted, its other documents, versions and metrics are not', async () => {
  const { request, lines } = await measuredServer()
  for (const path of ['/api', '/apis', '/apis/apps/v1', '/version', '/metrics', '/openapi/v3/none'])
    await request('GET', path)
  const subjects = (await lines('apiserver_request_total')).map((line) =>
    ['component', 'subresource', 'code'].map(
      (name) => new RegExp(`${name}="([^"]*)"`).exec(line)![1],
    ),
  )
  assert.deepEqual(subjects, [
    ['apiserver', 'api', '200'],
    ['apiserver', 'apis', '200'],
    ['', 'openapi/v3/', '404'],
  ])
  const objectives = await lines('apiserver_request_sli_duration_seconds_bucket')
  assert.match(objectives[0]!, /le="0.05"/)
})

test('who asks for what is deprecated is told in a gauge; unavailable group versions in another', async () => {
  const { request, lines } = await measuredServer()
  await request('GET', '/api/v1/endpoints')
  assert.deepEqual(await lines('apiserver_requested_deprecated_apis'), [
    'apiserver_requested_deprecated_apis{group="",removed_release="",resource="endpoints",subresource="",version="v1"} 1',
  ])
  const service = { name: 'none', namespace: 'default' }
  await request('POST', '/apis/apiregistration.k8s.io/v1/apiservices', {
    metadata: { name: 'v1.a.example.com' },
    spec: {
      group: 'a.example.com',
      version: 'v1',
      service,
      insecureSkipTLSVerify: true,
      groupPriorityMinimum: 1,
      versionPriority: 1,
    },
  })
  const unavailable = async (): Promise<readonly string[]> =>
    (await lines('aggregator_unavailable_apiservice')).filter((line) => line.includes('a.example'))
  assert.deepEqual(await unavailable(), [
    'aggregator_unavailable_apiservice{name="v1.a.example.com"} 1',
  ])
  await request('DELETE', '/apis/apiregistration.k8s.io/v1/apiservices/v1.a.example.com')
  assert.deepEqual(await unavailable(), [])
  assert.match((await lines('kubernetes_build_info'))[0]!, /git_version="v1.36.2".* 1$/)
  assert.deepEqual(await lines('version_info'), [
    'version_info{binary="1.36.2",component="kube",emulation="1.36",min_compat="1.35"} 1',
  ])
})

test('admission is timed by step and by plug-in, and by whether it refused', async () => {
  const { request, lines } = await measuredServer()
  // The default namespace was created, too.
  await request('POST', MAPS, { metadata: { name: 'a' } })
  await request('POST', '/api/v1/namespaces/none/configmaps', { metadata: { name: 'a' } })
  const counted = async (name: string): Promise<readonly string[]> =>
    (await lines(`${name}_admission_duration_seconds_count`)).filter((line) =>
      line.includes('operation="CREATE"'),
    )
  assert.deepEqual(await counted('apiserver_admission_step'), [
    'apiserver_admission_step_admission_duration_seconds_count{operation="CREATE",rejected="false",type="admit"} 2',
    'apiserver_admission_step_admission_duration_seconds_count{operation="CREATE",rejected="false",type="validate"} 2',
    'apiserver_admission_step_admission_duration_seconds_count{operation="CREATE",rejected="true",type="admit"} 1',
  ])
  const plugins = await counted('apiserver_admission_controller')
  assert.ok(
    plugins.some((line) => /NamespaceLifecycle.*rejected="true",type="admit"} 1$/.test(line)),
  )
})
