/** The embedded API server as the judge: what it answers to a create that is not stored. */
import { generateKeyPairSync } from 'node:crypto'
import { createApiServer, createMemoryStore } from '@gyropilot/api-server'
import type { ApiServer, ResourceInfo } from '@gyropilot/api-server'
import type { Status } from '@gyropilot/api'
import { silentLogger } from '@gyropilot/foundation'
import type { Clock, RandomSource } from '@gyropilot/foundation'
import type { Draft, Stored } from '@gyropilot/schema/objects'
import type { CheckOptions } from './check-options.ts'

interface Answer {
  /** Undefined: accepted. */
  readonly refusal: Status | undefined
  readonly warnings: readonly string[]
}

type FieldValidation = 'Strict' | 'Ignore'

const TOKEN = 'check'

export class CheckingServer {
  readonly #server: ApiServer

  private constructor(server: ApiServer) {
    this.#server = server
  }

  static async start(
    { podSecurity, serviceRanges }: Pick<CheckOptions, 'podSecurity' | 'serviceRanges'>,
    { clock, random }: { readonly clock: Clock; readonly random: RandomSource },
  ): Promise<CheckingServer> {
    const server = createApiServer({
      clock,
      random,
      logger: silentLogger,
      store: createMemoryStore(clock),
      serviceAccountKey: generateKeyPairSync('ec', { namedCurve: 'P-256' }),
      tokens: new Map([
        [
          TOKEN,
          {
            name: 'kubernetes-admin',
            groups: ['system:masters', 'system:authenticated'],
            extra: {},
          },
        ],
      ]),
      serviceRanges,
      podSecurity: { enforce: podSecurity, warn: podSecurity },
    })
    await server.start()
    return new CheckingServer(server)
  }

  resourceOf(group: string, version: string, kind: string): ResourceInfo | undefined {
    return this.#server.registry.byKind(group, version, kind)?.info
  }

  served(): readonly ResourceInfo[] {
    return [...this.#server.registry.all()].map(({ info }) => info)
  }

  /** As if it were created; nothing is kept. That an object of the name is there already is no objection: everything else was checked before. */
  async judge(
    info: ResourceInfo,
    namespace: string,
    object: unknown,
    validation: FieldValidation,
  ): Promise<Answer> {
    const path = collectionPath(info, namespace)
    const query = `dryRun=All&fieldValidation=${validation}`
    const answer = await this.#send('POST', `${path}?${query}`, object)
    if (answer.refusal?.reason === 'AlreadyExists') return { ...answer, refusal: undefined }
    return answer
  }

  /** Creates the object or lays it over the one of its name. What is wrong with it is told by `judge`. */
  async store(info: ResourceInfo, namespace: string, object: Draft): Promise<boolean> {
    const path = collectionPath(info, namespace)
    const created = await this.#send('POST', `${path}?fieldValidation=Ignore`, object)
    if (created.refusal?.reason !== 'AlreadyExists') return created.refusal === undefined
    const name = encodeURIComponent(String((object['metadata'] as Draft)['name']))
    const patched = await this.#send('PATCH', `${path}/${name}?fieldValidation=Ignore`, object)
    return patched.refusal === undefined
  }

  has(group: string, resource: string, namespace: string, name: string): boolean {
    return this.stored(group, resource, namespace, name) !== undefined
  }

  stored(group: string, resource: string, namespace: string, name: string): Stored | undefined {
    return this.#server.internals.get(group, resource, namespace, name)
  }

  definitionsSettled(): Promise<void> {
    return this.#server.definitionsSettled()
  }

  stop(): Promise<void> {
    return this.#server.stop(0)
  }

  async #send(method: 'POST' | 'PATCH', path: string, object: unknown): Promise<Answer> {
    const { status, headers, body } = await this.#server.handle({
      method,
      path,
      headers: {
        authorization: `Bearer ${TOKEN}`,
        'user-agent': 'gyro-check',
        ...(method === 'PATCH' ? { 'content-type': 'application/merge-patch+json' } : {}),
      },
      body: { json: object },
    })
    const warnings = [headers['warning'] ?? []].flat().map(warningText)
    if (status < 400) return { refusal: undefined, warnings }
    if (body.kind === 'value') return { refusal: body.value as Status, warnings }
    const refusal: Status = {
      kind: 'Status',
      apiVersion: 'v1',
      status: 'Failure',
      code: status,
      message: 'the server could not find the requested resource',
    }
    return { refusal, warnings }
  }
}

function collectionPath(
  { group, version, resource, namespaced }: ResourceInfo,
  namespace: string,
): string {
  const prefix = group === '' ? `/api/${version}` : `/apis/${group}/${version}`
  const scope = namespaced ? `/namespaces/${encodeURIComponent(namespace)}` : ''
  return `${prefix}${scope}/${resource}`
}

/** `299 - "text"`: its bytes are UTF-8, its quotes are escaped. */
function warningText(header: string): string {
  const quoted = header.slice(header.indexOf('"') + 1, -1).replaceAll(/\\(.)/g, '$1')
  return Buffer.from(quoted, 'latin1').toString('utf8')
}
