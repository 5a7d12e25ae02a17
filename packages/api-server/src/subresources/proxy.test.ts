import assert from 'node:assert/strict'
import { createServer, type Server } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { createTestServer, type AnyValue } from '../testing/test-server.ts'
import type { Kubelet } from '../kubelets/kubelet.ts'

const NS = '/api/v1/namespaces/default'
const STATUS_PATCH = { 'content-type': 'application/merge-patch+json' }

/** A program of the user's, to which the ports of pods lead. */
let program: Server
let programPort = 0
const seen: AnyValue[] = []
let whenArrived = (): void => {}
let whenLeft = (): void => {}

before(async () => {
  program = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk: Buffer) => (body += chunk.toString()))
    request.on('end', () => {
      seen.push({ method: request.method, url: request.url, headers: request.headers, body })
      if (request.url === '/moved') {
        response.writeHead(302, { location: '/elsewhere' }).end()
        return
      }
      if (request.url === '/cookies') {
        response.setHeader('set-cookie', ['a=1; Expires=Wed, 21 Oct 2026 07:28:00 GMT', 'b=2'])
        response.setHeader('proxy-connection', 'close')
      }
      if (request.url === '/never' || request.url === '/endless') {
        response.on('close', () => whenLeft())
        if (request.url === '/endless') response.write('first')
        whenArrived()
        return
      }
      response.writeHead(request.url === '/teapot' ? 418 : 200, {
        'content-type': 'text/html',
        'x-own': 'yes',
      })
      response.write('hello ')
      response.end(body)
    })
  })
  await new Promise<void>((resolve) => program.listen(0, '127.0.0.1', resolve))
  programPort = (program.address() as AddressInfo).port
})
after(() => program.close())

async function proxyServer() {
  const asked: string[] = []
  const kubelet: Kubelet = {
    logs: () => undefined,
    exec: () => undefined,
    attach: () => undefined,
    usage: () => ({
      node: { cpuNanoCores: 7, memoryBytes: 9 },
      pods: [
        {
          namespace: 'default',
          name: 'p',
          containers: [{ name: 'a', cpuNanoCores: 1, memoryBytes: 2 }],
        },
      ],
    }),
    async forward(pod, port, streams) {
      asked.push(`${pod['metadata'].name}:${port}`)
      if (port !== 8080) return `nobody listens at ${port}`
      const socket = connect(programPort, '127.0.0.1')
      streams.signal.addEventListener('abort', () => socket.destroy())
      void (async () => {
        for await (const chunk of streams.input) socket.write(chunk)
      })()
      for await (const chunk of socket) await streams.output(chunk)
      return undefined
    },
  }
  const server = await createTestServer({
    kubelets: { kubeletOf: (name) => (name === 'n1' ? kubelet : undefined) },
  })
  const { request } = server
  const addresses = [{ type: 'InternalIP', address: '10.9.9.9' }]
  for (const name of ['n1', 'n2']) {
    await request('POST', '/api/v1/nodes', { metadata: { name } })
    await request('PATCH', `/api/v1/nodes/${name}/status`, { status: { addresses } }, STATUS_PATCH)
  }
  await request('POST', `${NS}/serviceaccounts`, { metadata: { name: 'default' } })
  const ports = [{ containerPort: 8080, name: 'web' }]
  for (const [name, nodeName] of [
    ['p', 'n1'],
    ['far', 'n2'],
  ] as const) {
    await request('POST', `${NS}/pods`, {
      metadata: { name },
      spec: { nodeName, containers: [{ name: 'a', image: 'a', ports }] },
    })
    const status = { podIP: '10.0.0.1', podIPs: [{ ip: '10.0.0.1' }] }
    await request('PATCH', `${NS}/pods/${name}/status`, { status }, STATUS_PATCH)
  }
  return { ...server, asked }
}

test('a request to a pod reaches the program behind its port, with path, query and body, without credentials', async () => {
  const { request, asked } = await proxyServer()
  const answer = await request('POST', `${NS}/pods/p:8080/proxy/a/b%20c/?x=1&x=2`, 'content', {
    'content-type': 'text/plain',
    'x-mine': 'm',
    'impersonate-user': 'somebody',
    'impersonate-group': 'system:masters',
  })
  assert.deepEqual(
    [answer.status, answer.value, answer.headers['content-type'], answer.headers['x-own']],
    [200, 'hello content', 'text/html', 'yes'],
  )
  const { method, url, headers, body } = seen.at(-1)
  assert.deepEqual(
    [method, url, body, headers['x-mine']],
    ['POST', '/a/b%20c/?x=1&x=2', 'content', 'm'],
  )
  assert.equal(headers['x-forwarded-uri'], `${NS}/pods/p:8080/proxy/a/b%20c/?x=1&x=2`)
  assert.deepEqual(
    Object.keys(headers).filter((name) => /authorization|impersonate/.test(name)),
    [],
  )
  assert.deepEqual(asked, ['p:8080'])
})

test('a request to delete keeps its body', async () => {
  const { request } = await proxyServer()
  await request('DELETE', `${NS}/pods/p:8080/proxy/x`, 'all of it', {
    'content-type': 'text/plain',
  })
  const { method, body } = seen.at(-1)
  assert.deepEqual([method, body], ['DELETE', 'all of it'])
})

test('links of a page lead through the proxy', async () => {
  const { request } = await proxyServer()
  const page = '<a href="/x">x</a>'
  const { value } = await request('POST', `${NS}/pods/p:8080/proxy/`, page, {
    'content-type': 'text/plain',
  })
  assert.equal(value, `hello <a href="${NS}/pods/p:8080/proxy/x">x</a>`)
})

test('the port may be a name, or the first of the containers; answers keep their status', async () => {
  const { request, asked } = await proxyServer()
  assert.equal((await request('GET', `${NS}/pods/p:web/proxy/teapot`)).status, 418)
  assert.equal((await request('GET', `${NS}/pods/p/proxy/`)).value, 'hello ')
  assert.deepEqual(asked, ['p:8080', 'p:8080'])
})

test('without a path the client is sent to the root, and redirects stay behind the proxy', async () => {
  const { request } = await proxyServer()
  for (const method of ['GET', 'HEAD']) {
    const root = await request(method, `${NS}/pods/p/proxy?x=1`)
    assert.deepEqual([root.status, root.headers['location']], [301, `${NS}/pods/p/proxy/?x=1`])
  }
  const moved = await request('GET', `${NS}/pods/p/proxy/moved`)
  assert.deepEqual([moved.status, moved.headers['location']], [302, `${NS}/pods/p/proxy/elsewhere`])
})

test('who cannot be reached: 503 with the reason; missing pods 404; pods without an address 400', async () => {
  const { request } = await proxyServer()
  const texts: [number, string][] = []
  for (const name of ['p:99', 'far', 'nope', 'p:none'])
    await request('GET', `${NS}/pods/${name}/proxy/`).then(({ status, value }) =>
      texts.push([status, value.message]),
    )
  assert.deepEqual(texts, [
    [503, 'error trying to reach service: nobody listens at 99'],
    [503, 'error trying to reach service: dial tcp 10.0.0.1:8080: connect: connection refused'],
    [404, 'pods "nope" not found'],
    [400, 'invalid port "none"'],
  ])
})

test('a service leads to a ready pod behind the port that is named or numbered', async () => {
  const { request, asked } = await proxyServer()
  await request('POST', `${NS}/services`, {
    metadata: { name: 's' },
    spec: { ports: [{ name: 'http', port: 80, targetPort: 8080 }] },
  })
  const through = async (name: string): Promise<[number, string]> => {
    const { status, value } = await request('GET', `${NS}/services/${name}/proxy/`)
    return [status, value.message ?? value]
  }
  assert.deepEqual(await through('s:http'), [404, 'services "s" not found'])
  assert.deepEqual(await through('ftp:s:80'), [400, 'invalid service request "ftp:s:80"'])
  assert.deepEqual(await through('a:b:c:d'), [400, 'invalid service request "a:b:c:d"'])
  const ref = (name: string) => ({ kind: 'Pod', namespace: 'default', name })
  await request('POST', `${NS}/endpoints`, {
    metadata: { name: 's' },
    subsets: [
      {
        addresses: [{ ip: '10.0.0.1', targetRef: ref('p') }],
        notReadyAddresses: [{ ip: '10.0.0.2', targetRef: ref('far') }],
        ports: [{ name: 'http', port: 8080 }],
      },
    ],
  })
  assert.deepEqual(await through('s:http'), [200, 'hello '])
  assert.deepEqual(await through('s:80'), [200, 'hello '])
  assert.deepEqual(await through('s:81'), [503, 'no service port 81 found for service "s"'])
  assert.deepEqual(await through('s:other'), [503, 'no endpoints available for service "s:other"'])
  assert.deepEqual(asked, ['p:8080', 'p:8080'])
})

test('who may write Endpoints does not choose where the server connects to: only ready pods of the namespace count', async () => {
  const { request, asked } = await proxyServer()
  await request('POST', '/api/v1/namespaces', { metadata: { name: 'mine' } })
  const pod = { kind: 'Pod', namespace: 'default', name: 'p' }
  const table = [
    ['mine', { ip: '10.9.9.9' }],
    ['mine', { ip: '10.0.0.1', targetRef: pod }],
    ['default', { ip: '10.9.9.9', targetRef: pod }],
    ['default', { ip: '10.0.0.1', targetRef: { ...pod, name: 'nope' } }],
    ['default', { ip: '10.0.0.1', targetRef: { ...pod, kind: 'Node' } }],
  ] as const
  for (const [index, [namespace, address]] of table.entries()) {
    const name = `s${index}`
    const created = await request('POST', `/api/v1/namespaces/${namespace}/endpoints`, {
      metadata: { name },
      subsets: [{ addresses: [address], ports: [{ port: programPort }] }],
    })
    assert.equal(created.status, 201)
    await request('POST', `/api/v1/namespaces/${namespace}/services`, {
      metadata: { name },
      spec: { ports: [{ port: 80 }] },
    })
    const path = `/api/v1/namespaces/${namespace}/services/${name}/proxy/`
    const { status, value } = await request('GET', path)
    assert.deepEqual([status, value.message], [503, `no endpoints available for service "${name}"`])
  }
  assert.deepEqual(asked, [])
})

test('cookies stay apart, and what a header says of its connection ends there, both ways', async () => {
  const { request } = await proxyServer()
  const { headers } = await request('GET', `${NS}/pods/p/proxy/cookies`, undefined, {
    connection: 'close, X-Hop',
    'x-hop': 'one',
    'x-kept': 'two',
  })
  assert.deepEqual(headers['set-cookie'], ['a=1; Expires=Wed, 21 Oct 2026 07:28:00 GMT', 'b=2'])
  assert.equal(headers['proxy-connection'], undefined)
  const { headers: sent } = seen.at(-1)
  assert.deepEqual([sent['x-hop'], sent['x-kept']], [undefined, 'two'])
})

test('a reader who leaves ends the connection to the pod, before the head of the answer and between its chunks', async () => {
  const { server } = await proxyServer()
  for (const path of ['never', 'endless']) {
    const gone = new AbortController()
    const left = new Promise<void>((resolve) => (whenLeft = resolve))
    const arrived = new Promise<void>((resolve) => (whenArrived = resolve))
    const answered = server.handle({
      method: 'GET',
      path: `${NS}/pods/p/proxy/${path}`,
      headers: { authorization: 'Bearer test-token' },
      ...(path === 'never' ? { signal: gone.signal } : {}),
    })
    await arrived
    if (path === 'never') gone.abort()
    else {
      const { body } = await answered
      assert.equal(body.kind, 'bytes')
      const chunks = (body as { chunks: AsyncIterable<Uint8Array> }).chunks[Symbol.asyncIterator]()
      assert.equal(Buffer.from((await chunks.next()).value).toString(), 'first')
      const waiting = chunks.next().catch(() => {})
      await chunks.return!()
      await waiting
    }
    await left
    await answered
  }
})

test('a kubelet tells its health, pods and usage; one that is down is told about', async () => {
  const { request } = await proxyServer()
  const get = async (path: string) => request('GET', `/api/v1/nodes/${path}`)
  assert.equal((await get('n1/proxy/healthz')).value, 'ok')
  const logs = await get('n1:10250/proxy/logs/')
  assert.deepEqual([logs.status, /<pre>\n<\/pre>/.test(logs.value)], [200, true])
  const { value } = await get('n1:10250/proxy/stats/summary')
  const { node, pods } = JSON.parse(value)
  assert.deepEqual(
    [
      node.nodeName,
      node.cpu.usageNanoCores,
      pods[0].podRef.name,
      pods[0].containers[0].memory.workingSetBytes,
    ],
    ['n1', 7, 'p', 2],
  )
  // Clients of kubelets compute with these and look for none of them.
  for (const part of [node, ...node.systemContainers, ...pods, ...pods[0].containers])
    for (const number of [
      part.cpu.usageCoreNanoSeconds,
      part.memory.usageBytes,
      part.memory.workingSetBytes,
      part.memory.rssBytes,
      Date.parse(part.startTime),
      Date.parse(part.cpu.time),
    ])
      assert.ok(Number.isSafeInteger(number) && number >= 0, JSON.stringify(part))
  assert.deepEqual(
    node.systemContainers.map(({ name }: AnyValue) => name),
    ['kubelet', 'runtime', 'pods'],
  )
  const list = JSON.parse((await get('n1/proxy/pods')).value)
  assert.deepEqual(
    list.items.map((pod: AnyValue) => pod.metadata.name),
    ['p'],
  )
  assert.equal((await get('n1/proxy/nothing')).status, 404)
  const down = await get('n2/proxy/healthz')
  assert.deepEqual(
    [down.status, down.value.message],
    [503, 'error trying to reach service: dial tcp 10.9.9.9:10250: connect: connection refused'],
  )
  assert.equal((await get('n3/proxy/healthz')).status, 404)
})

test('what runs, as the runtime of a kubelet knows it', async () => {
  const { request } = await proxyServer()
  const proxy = '/api/v1/nodes/n1:10250/proxy'
  const running = async () => JSON.parse((await request('GET', `${proxy}/runningpods/`)).value)
  // A pod without a sandbox is none to it.
  assert.deepEqual(await running(), {
    kind: 'PodList',
    apiVersion: 'v1',
    metadata: {},
    items: null,
  })
  const { value: pod } = await request('GET', `${NS}/pods/p`)
  const patch = async (status: object) =>
    request('PATCH', `${NS}/pods/p/status`, { status }, STATUS_PATCH)
  const { name, namespace, uid } = pod.metadata
  const sandbox = { type: 'PodReadyToStartContainers', status: 'True' }
  await patch({ conditions: [sandbox] })
  assert.deepEqual((await running()).items, [
    { metadata: { name, namespace, uid }, spec: { containers: null }, status: {} },
  ])
  const image = 'example.com/a:1'
  const started = { image, imageID: '', ready: true, restartCount: 0 }
  await patch({
    initContainerStatuses: [{ ...started, name: 'once', state: { terminated: { exitCode: 0 } } }],
    containerStatuses: [{ ...started, name: 'a', state: { running: {} } }],
  })
  assert.deepEqual((await running()).items[0].spec.containers, [
    { name: 'a', image, resources: {} },
  ])
  await patch({ conditions: [{ ...sandbox, status: 'False' }] })
  assert.equal((await running()).items, null)
  const moved = await request('GET', `${proxy}/runningpods`)
  assert.deepEqual([moved.status, moved.headers['location']], [307, `${proxy}/runningpods/`])
})

test('the metrics of a kubelet: its own, of its containers, and what metrics-server reads', async () => {
  const { request, clock } = await proxyServer()
  const startedAtMs = clock.nowMs() - 10_000
  const status = {
    capacity: { cpu: '2500m', memory: '1Ki' },
  }
  await request('PATCH', '/api/v1/nodes/n1/status', { status }, STATUS_PATCH)
  const startedAt = new Date(startedAtMs).toISOString()
  const container = { name: 'a', image: 'docker.io/a:1', imageID: '', ready: true, restartCount: 0 }
  const state = { running: { startedAt } }
  const containerStatuses = [{ ...container, containerID: 'containerd://abc', state }]
  await request('PATCH', `${NS}/pods/p/status`, { status: { containerStatuses } }, STATUS_PATCH)
  const get = async (path: string): Promise<string> => {
    const answer = await request('GET', `/api/v1/nodes/n1/proxy/${path}`)
    assert.equal(answer.status, 200)
    return answer.value as string
  }
  const own = await get('metrics')
  assert.match(own, /^kubelet_node_name\{node="n1"\} 1$/m)
  assert.match(own, /^kubelet_running_pods 1$/m)
  const where = 'container="a",namespace="default",pod="p"'
  const resource = await get('metrics/resource')
  const line = (text: string, start: string): readonly string[] => {
    const found = text.split('\n').find((one) => one.startsWith(start))
    assert.ok(found !== undefined, `${start} in\n${text}`)
    return found.slice(start.length).trim().split(' ')
  }
  assert.match(resource, /^# TYPE container_cpu_usage_seconds_total counter$/m)
  const [seconds, atMs] = line(resource, `container_cpu_usage_seconds_total{${where}}`)
  const usedFor = (Number(atMs) - startedAtMs) / 1000
  assert.ok(
    usedFor >= 10 && Math.abs(Number(seconds) - usedFor * 1e-9) < 1e-12,
    `${seconds} in ${usedFor} s`,
  )
  assert.equal(line(resource, `container_memory_working_set_bytes{${where}}`)[0], '2')
  assert.equal(line(resource, 'pod_memory_working_set_bytes{namespace="default",pod="p"}')[0], '2')
  assert.equal(line(resource, 'node_memory_working_set_bytes')[0], '9')
  assert.deepEqual(line(resource, 'resource_scrape_error'), ['0'])
  const cadvisor = await get('metrics/cadvisor')
  assert.match(
    cadvisor,
    /^container_cpu_usage_seconds_total\{container="a",cpu="total",id="\/kubepods\/pod[^"]+\/abc",image="docker.io\/a:1",name="abc",namespace="default",pod="p"\} /m,
  )
  assert.match(cadvisor, /^machine_cpu_cores 2.5$/m)
  assert.match(cadvisor, /^machine_memory_bytes 1024$/m)
})

test('what a program answers may take any time, what this server answers may not', async () => {
  const { server } = await proxyServer()
  const headers = { authorization: 'Bearer test-token' }
  for (const [path, isPassedOn] of [
    [`${NS}/pods/p:8080/proxy/a`, true],
    [`${NS}/pods/p`, false],
  ] as const) {
    let unbounded = 0
    await server.handle({ method: 'GET', path, headers, unbounded: () => void unbounded++ })
    assert.equal(unbounded, isPassedOn ? 1 : 0)
  }
})
