/** A machine without sockets, pods that say their names, and Services and slices for tests. */
import type { EndpointSlice, Node, Service } from '@gyropilot/api'
import { SeededRandom, VirtualClock, silentLogger } from '@gyropilot/foundation'
import { loopbackConfig } from './config.ts'
import { LoopbackCloud } from './loopback-cloud.ts'
import type {
  Connection,
  Datagram,
  HttpAnswer,
  HttpRequest,
  Network,
  PodNetwork,
} from './network.ts'

export const NEVER: AbortSignal = new AbortController().signal

interface Served {
  tcp?: (connection: Connection) => void
  udp?: (datagram: Datagram) => void
  http?: (request: HttpRequest) => HttpAnswer
}

/** Listeners by `tcp 127.80.0.1:80`. `taken` are refused as the system refuses them. */
class TestNetwork implements Network {
  readonly listening = new Map<string, Served>()
  readonly taken = new Map<string, string>()

  listenTcp(address: string, port: number, serve: (connection: Connection) => void) {
    return this.#listen('tcp', address, port, { tcp: serve })
  }

  listenUdp(address: string, port: number, serve: (datagram: Datagram) => void) {
    return this.#listen('udp', address, port, { udp: serve })
  }

  listenHttp(address: string, port: number, answer: (request: HttpRequest) => HttpAnswer) {
    return this.#listen('http', address, port, { http: answer })
  }

  async #listen(kind: string, address: string, port: number, served: Served) {
    const key = `${kind} ${address}:${port}`
    const code = this.listening.has(key) ? 'EADDRINUSE' : this.taken.get(key)
    if (code !== undefined)
      throw Object.assign(new Error(`listen ${code}`), { code, address, port })
    this.listening.set(key, served)
    return { close: async () => void this.listening.delete(key) }
  }

  /** What a client sees: the name of the pod that it reached, `reset`, or undefined when nobody listens. */
  async connect(address: string, port: number, from = '127.0.0.1'): Promise<string | undefined> {
    const served = this.listening.get(`tcp ${address}:${port}`)?.tcp
    if (served === undefined) return undefined
    const { promise, resolve } = Promise.withResolvers<string>()
    let text = ''
    served({
      from,
      input: (async function* () {})(),
      output: async (bytes) => void (text += Buffer.from(bytes).toString()),
      end: () => resolve(text),
      reset: () => resolve('reset'),
      signal: NEVER,
    })
    return promise
  }

  /** Undefined: nobody answers. */
  async send(address: string, port: number, text: string): Promise<string | undefined> {
    const served = this.listening.get(`udp ${address}:${port}`)?.udp
    let answer: string | undefined
    served?.({
      from: '127.0.0.1',
      bytes: Buffer.from(text),
      reply: (bytes) => (answer = Buffer.from(bytes).toString()),
    })
    for (let turns = 0; turns < 8; turns++) await Promise.resolve()
    return answer
  }

  get(address: string, port: number, path = '/'): HttpAnswer | undefined {
    return this.ask(address, port, { method: 'GET', path, body: '' })
  }

  ask(address: string, port: number, request: HttpRequest): HttpAnswer | undefined {
    return this.listening.get(`http ${address}:${port}`)?.http?.(request)
  }
}

/** Every pod says its address; those in `silent` do not answer. */
export function talkingPods(silent: ReadonlySet<string> = new Set()): PodNetwork {
  return {
    async connect({ ip, port }, { output }) {
      if (silent.has(ip)) return 'connection refused'
      await output(Buffer.from(`${ip}:${port}`))
      return undefined
    },
    exchange: async ({ ip }, bytes) =>
      silent.has(ip) ? undefined : Buffer.from(`${ip} ${Buffer.from(bytes).toString()}`),
  }
}

export interface World {
  readonly cloud: LoopbackCloud
  readonly network: TestNetwork
  readonly clock: VirtualClock
  /** What the informer of EndpointSlices has. */
  readonly slices: EndpointSlice[]
}

export function world({ config = '', pods = talkingPods() } = {}): World {
  const clock = new VirtualClock({ settle: () => Promise.resolve() })
  const network = new TestNetwork()
  const cloud = new LoopbackCloud({
    clock,
    logger: silentLogger,
    config: loopbackConfig(config),
    network,
    pods,
  })
  const slices: EndpointSlice[] = []
  const informer = {
    addIndex: () => {},
    lister: {
      byIndex: (_: string, key: string) =>
        slices.filter(
          ({ metadata }) =>
            `${metadata?.namespace}/${metadata?.labels?.['kubernetes.io/service-name']}` === key,
        ),
    },
  }
  cloud.setInformers({ informer: () => informer } as never)
  return { cloud, network, clock, slices }
}

export async function initialized(given: World): Promise<() => void> {
  const life = new AbortController()
  await given.cloud.initialize({
    client: () => {
      throw new Error('this cloud asks nobody')
    },
    clock: given.clock,
    random: new SeededRandom('loopback'),
    logger: silentLogger,
    signal: life.signal,
  })
  return () => life.abort()
}

export function service(spec: object = {}, more: object = {}): Service {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { namespace: 'default', name: 'web', uid: 'u-1' },
    spec: { type: 'LoadBalancer', ports: [{ port: 80, targetPort: 8080 }], ...spec },
    ...more,
  } as Service
}

export function node(name: string): Node {
  return { apiVersion: 'v1', kind: 'Node', metadata: { name } } as Node
}

/** Pods as `ip on node`; `!` before it: not ready; `~`: goes away and still serves. */
export function slice(
  pods: readonly string[],
  name = 'web',
  port = 8080,
  portName = '',
): EndpointSlice {
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: {
      namespace: 'default',
      name: `${name}-1`,
      labels: { 'kubernetes.io/service-name': name },
    },
    addressType: 'IPv4',
    ports: [{ name: portName, port, protocol: 'TCP' }],
    endpoints: pods.map((text) => {
      const [, mark, ip = '', nodeName] = /^([!~]?)(\S+) on (\S+)$/.exec(text) ?? []
      const conditions = { ready: mark === '', serving: mark !== '!', terminating: mark === '~' }
      return { addresses: [ip], nodeName, conditions }
    }),
  } as EndpointSlice
}
