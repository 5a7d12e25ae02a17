/** What a container finds in its file system and its environment: from its image, its node and the pod's volumes. */
import { fnv1a, resources } from '@gyropilot/api'
import type {
  ClusterTrustBundleProjection,
  Container,
  Pod,
  Service,
  TokenRequest,
  Volume,
} from '@gyropilot/api'
import type { Client } from '@gyropilot/client'
import { byString, formatTime } from '@gyropilot/foundation'
import { BadEnvFile, valueInEnvFile } from './env-file.ts'
import { FileError } from '../files/file-error.ts'
import { absolute } from '../files/file-tree.ts'
import { FileStore } from '../files/file-store.ts'
import type { Mount } from '../files/file-tree.ts'
import { orMissing } from './missing.ts'
import { hostnameOf, hostsOf, resolverOf } from './pod-names.ts'
import { resourceValue } from './resource-fields.ts'
import type { ResourceField } from './resource-fields.ts'
import type { PodStorage } from './pod-storage.ts'
import { serviceVariables } from './service-environment.ts'
import { projectedAnchors } from './trust-bundles.ts'
import { withValues } from './variable-references.ts'
import {
  USUAL_MODE,
  fileSystemOf,
  givenFile,
  sizeOf,
  tokenFile,
  volumeFolder,
} from './volume-attributes.ts'
import { kernelFiles } from './kernel-files.ts'
import { addImageFiles, imageVolume } from './image-files.ts'

const BAD_ENV_FILE = "couldn't parse env file"
/** Those of a node that pods mount by themselves. */
const NODE_FILES: Readonly<Record<string, string>> = {
  '/etc/hosts': '127.0.0.1\tlocalhost\n::1\tlocalhost ip6-localhost ip6-loopback\n',
}
/** What such a file is called in the volume that it is. */
const NODE_FILE = 'file'
/** Written by the runtime before a container starts. */
export function fillRoot(store: FileStore, pod: Pod, container: Container, nodeName: string): void {
  const texts: Readonly<Record<string, string>> = {
    '/etc/hostname': `${hostnameOf(pod, nodeName)}\n`,
    '/etc/hosts': hostsOf(pod, nodeName),
    '/etc/passwd': 'root:x:0:0:root:/root:/bin/sh\n',
    '/etc/resolv.conf': resolverOf(pod),
    '/proc/self/uid_map': usersOf(pod),
    '/proc/sys/kernel/hostname': `${nodeName}\n`,
    ...kernelFiles(pod, container),
  }
  store.makeFolder(absolute(container.workingDir ?? '', ''))
  addImageFiles(store, container)
  for (const [path, text] of Object.entries(texts)) store.set(path, Buffer.from(text))
  const message = terminationPath(container)
  store.makeFolder(message.slice(0, message.lastIndexOf('/')))
  store.set(message, new Uint8Array(0))
}

const USERS_OF_A_POD = 65_536
const MOST_PODS = 65_535

/** Which users of the node those of the container are: the same, unless the pod has its own. */
function usersOf({ metadata, spec }: Pod): string {
  const place = 1 + (fnv1a(Buffer.from(metadata?.uid ?? '')) % MOST_PODS)
  const [first, count] =
    spec?.hostUsers === false ? [place * USERS_OF_A_POD, USERS_OF_A_POD] : [0, 2 ** 32 - 1]
  return `${[0, first, count].map((number) => String(number).padStart(10)).join(' ')}\n`
}

/** Where a container leaves its last words. */
export function terminationPath({ terminationMessagePath }: Container): string {
  return absolute(terminationMessagePath || '/dev/termination-log', '')
}

/** Reads what pods refer to; what is missing is left out, as an optional source is. */
export class PodSources {
  readonly #client: Client
  readonly #pod: Pod
  readonly #storage: () => PodStorage

  /** `storage` is asked for only where something of the pod's own is looked at. */
  constructor(client: Client, pod: Pod, storage: () => PodStorage) {
    this.#client = client
    this.#pod = pod
    this.#storage = storage
  }

  /** `containerId`: of the run that sees them. Without it, all is as it is now. */
  async mounts(container: Container, nodeName: string, containerId = ''): Promise<Mount[]> {
    const environment = (container.volumeMounts ?? []).some(({ subPathExpr }) => subPathExpr)
      ? await this.environment(container, nodeName)
      : new Map<string, string>()
    const mounts = (container.volumeMounts ?? []).map(async (mount): Promise<Mount | undefined> => {
      const volume = this.#pod.spec?.volumes?.find(({ name }) => name === mount.name)
      if (volume === undefined) return undefined
      const wanted = mount.subPath ?? substituted(mount.subPathExpr ?? '', environment)
      const subPath = fileOfNode(volume) ? NODE_FILE : wanted
      const part = async () => shownOf(await this.#contents(volume), wanted)
      const given =
        isGiven(volume) && wanted !== ''
          ? await this.#storage().part(container.name, containerId, mount.mountPath, part)
          : await this.#contents(volume)
      const store = given ?? this.#own(volume)
      if (given === undefined) makeMissingFolder(store, subPath)
      return {
        path: absolute(mount.mountPath, ''),
        store,
        subPath,
        readOnly: mount.readOnly === true || given !== undefined,
        type: fileSystemOf(volume),
        sizeBytes: sizeOf(this.#pod, volume),
      }
    })
    return (await Promise.all(mounts)).filter((mount) => mount !== undefined)
  }

  /** What was written on it before by others keeps whose it is. */
  #own(volume: Volume): FileStore {
    const store = this.#storage().volume(volume)
    const text = fileOfNode(volume)
    if (text !== undefined && store.get(`/${NODE_FILE}`) === undefined)
      store.set(`/${NODE_FILE}`, Buffer.from(text))
    store.describe('', volumeFolder(this.#pod, volume))
    return store
  }

  /** Undefined: the volume is storage of the pod. */
  async #contents(volume: Volume): Promise<FileStore | undefined> {
    const store = new FileStore()
    const { configMap, secret, downwardAPI, projected, image } = volume
    if (image) return imageVolume(image.reference)
    const mode = (configMap ?? secret ?? downwardAPI ?? projected)?.defaultMode ?? USUAL_MODE
    if (configMap) await this.#addConfigMap(store, configMap, mode)
    else if (secret) await this.#addSecret(store, { ...secret, name: secret.secretName }, mode)
    else if (downwardAPI) await this.#addDownward(store, downwardAPI, mode)
    else if (projected) {
      for (const source of projected.sources ?? []) {
        if (source.configMap) await this.#addConfigMap(store, source.configMap, mode)
        if (source.secret) await this.#addSecret(store, source.secret, mode)
        if (source.downwardAPI) await this.#addDownward(store, source.downwardAPI, mode)
        if (source.clusterTrustBundle) {
          const { path } = source.clusterTrustBundle
          store.set(`/${path}`, () => this.#anchors(source.clusterTrustBundle!))
          store.describe(`/${path}`, givenFile(this.#pod, mode))
        }
        if (source.serviceAccountToken) {
          const { path, ...request } = source.serviceAccountToken
          store.set(`/${path}`, () => this.#token(request))
          store.describe(`/${path}`, tokenFile(this.#pod, mode))
        }
      }
    } else return undefined
    return store
  }

  async #addConfigMap(store: FileStore, source: KeySource, mode: number): Promise<void> {
    this.#addKeys(store, await this.#configMap(source.name ?? ''), source, mode)
  }

  async #addSecret(store: FileStore, source: KeySource, mode: number): Promise<void> {
    this.#addKeys(store, await this.#secret(source.name ?? ''), source, mode)
  }

  #addKeys(
    store: FileStore,
    data: ReadonlyMap<string, Uint8Array>,
    { items }: KeySource,
    usualMode: number,
  ): void {
    const chosen = items ?? [...data.keys()].map((key) => ({ key, path: key, mode: undefined }))
    for (const { key, path, mode } of chosen) {
      const bytes = data.get(key)
      if (bytes === undefined) continue
      store.set(`/${path}`, bytes)
      store.describe(`/${path}`, givenFile(this.#pod, mode ?? usualMode))
    }
  }

  async #addDownward(store: FileStore, source: DownwardSource, usualMode: number): Promise<void> {
    const { spec } = this.#pod
    const containers = [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])]
    for (const { path, fieldRef, resourceFieldRef, mode } of source.items ?? []) {
      let value = fieldRef === undefined ? '' : fieldOf(this.#pod, fieldRef.fieldPath)
      if (resourceFieldRef !== undefined) {
        const of = containers.find(({ name }) => name === resourceFieldRef.containerName)
        value = of ? await this.#resource(of, resourceFieldRef, spec?.nodeName ?? '') : ''
      }
      store.set(`/${path}`, Buffer.from(value))
      store.describe(`/${path}`, givenFile(this.#pod, mode ?? usualMode))
    }
  }

  async #resource(container: Container, field: ResourceField, nodeName: string): Promise<string> {
    return resourceValue(this.#pod, container, field, async () => {
      const node = await orMissing(this.#client.resource(resources.nodes).get(nodeName))
      return node?.status?.allocatable ?? {}
    })
  }

  /** Those that were there when the container started, by the second. */
  async #services(container: Container): Promise<readonly Service[]> {
    const { metadata, spec, status } = this.#pod
    const states = [...(status?.containerStatuses ?? []), ...(status?.initContainerStatuses ?? [])]
    const own = states.find(({ name }) => name === container.name)
    const startedAt = own?.state?.running?.startedAt
    const master = await orMissing(
      this.#client.resource(resources.services, 'default').get('kubernetes'),
    )
    const all = master === undefined ? [] : [master]
    if (spec?.enableServiceLinks !== false) {
      const near = await this.#client.resource(resources.services, metadata?.namespace).list()
      all.push(...near.items)
    }
    return all.filter(
      ({ metadata: { creationTimestamp = '' } = {} }) =>
        startedAt === undefined || creationTimestamp <= startedAt,
    )
  }

  async #anchors(source: ClusterTrustBundleProjection): Promise<Uint8Array> {
    return Buffer.from(await projectedAnchors(this.#client, { ...source, optional: true }))
  }

  async #token(request: {
    readonly audience?: string
    readonly expirationSeconds?: number
  }): Promise<Uint8Array> {
    const { namespace, name, uid } = this.#pod.metadata ?? {}
    const account = this.#pod.spec?.serviceAccountName ?? 'default'
    const asked = this.#client
      .resource(resources.serviceaccounts, namespace)
      .createSubresource<TokenRequest>(account, 'token', {
        apiVersion: 'authentication.k8s.io/v1',
        kind: 'TokenRequest',
        spec: {
          ...(request.audience === undefined ? {} : { audiences: [request.audience] }),
          expirationSeconds: request.expirationSeconds ?? 3600,
          boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name, uid },
        },
      } as object)
    const answer = await orMissing(asked)
    if (answer === undefined) throw new FileError('No such file or directory')
    return Buffer.from(answer.status?.token ?? '')
  }

  async #configMap(name: string): Promise<Map<string, Uint8Array>> {
    const found = await orMissing(
      this.#client.resource(resources.configmaps, this.#pod.metadata?.namespace).get(name),
    )
    return new Map([
      ...Object.entries(found?.data ?? {}).map(([key, text]): [string, Uint8Array] => [
        key,
        Buffer.from(text),
      ]),
      ...binary(found?.binaryData),
    ])
  }

  async #secret(name: string): Promise<Map<string, Uint8Array>> {
    const found = await orMissing(
      this.#client.resource(resources.secrets, this.#pod.metadata?.namespace).get(name),
    )
    return new Map(binary(found?.data))
  }

  /** Why a variable that stands in a file cannot be had; undefined: all can, or need not. */
  async fileKeyProblem({ env = [] }: Container): Promise<string | undefined> {
    for (const { valueFrom } of env) {
      const source = valueFrom?.fileKeyRef
      if (source === undefined) continue
      const found = await this.#inFile(source)
      if (found.problem !== undefined) return found.problem
      if (found.value === undefined && source.optional !== true)
        return `environment variable key ${JSON.stringify(source.key)} not found in file ${JSON.stringify(source.path)}`
    }
    return undefined
  }

  async #inFile({ volumeName, path, key, optional }: FileKey): Promise<{
    readonly value?: string | undefined
    readonly problem?: string
  }> {
    const volume = this.#pod.spec?.volumes?.find(({ name }) => name === volumeName)
    const content = volume && this.#storage().volume(volume).get(`/${path}`)
    const isFile = content !== undefined && !(content instanceof Map)
    if (!isFile) return optional === true ? {} : { problem: BAD_ENV_FILE }
    const bytes = typeof content === 'function' ? await content() : content
    try {
      return { value: valueInEnvFile(Buffer.from(bytes).toString(), key) }
    } catch (error) {
      if (!(error instanceof BadEnvFile)) throw error
      return { problem: BAD_ENV_FILE }
    }
  }

  /**
   * Of a process in the container, in the order of the kubelet: all of a source, then single values. References are to these alone:
   * the runtime adds its own later.
   */
  async environment(container: Container, nodeName: string): Promise<Map<string, string>> {
    const environment = new Map(serviceVariables(await this.#services(container)))
    for (const { prefix = '', configMapRef, secretRef } of container.envFrom ?? []) {
      const data = configMapRef
        ? await this.#configMap(configMapRef.name ?? '')
        : await this.#secret(secretRef?.name ?? '')
      for (const [key, bytes] of data) environment.set(prefix + key, Buffer.from(bytes).toString())
    }
    for (const { name, value, valueFrom } of container.env ?? []) {
      if (valueFrom === undefined) {
        environment.set(name, substituted(value ?? '', environment))
      } else if (valueFrom.fieldRef) {
        environment.set(name, fieldOf(this.#pod, valueFrom.fieldRef.fieldPath, nodeName))
      } else if (valueFrom.resourceFieldRef) {
        environment.set(name, await this.#resource(container, valueFrom.resourceFieldRef, nodeName))
      } else if (valueFrom.fileKeyRef) {
        const { value } = await this.#inFile(valueFrom.fileKeyRef)
        if (value !== undefined) environment.set(name, value)
      } else {
        const { configMapKeyRef, secretKeyRef } = valueFrom
        const data = configMapKeyRef
          ? await this.#configMap(configMapKeyRef.name ?? '')
          : await this.#secret(secretKeyRef?.name ?? '')
        const bytes = data.get((configMapKeyRef ?? secretKeyRef)?.key ?? '')
        if (bytes !== undefined) environment.set(name, Buffer.from(bytes).toString())
      }
    }
    return environment
  }
}

/** Of every process in a container, unless the pod sets them. */
export function runtimeVariables(pod: Pod, nodeName: string): readonly [string, string][] {
  return [
    ['PATH', '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'],
    ['HOSTNAME', hostnameOf(pod, nodeName)],
    ['HOME', '/root'],
  ]
}

/** Written by the node, and again whenever what it is made of changes. */
function isGiven({ configMap, secret, downwardAPI, projected }: Volume): boolean {
  return (configMap ?? secret ?? downwardAPI ?? projected) !== undefined
}

/** As little as can be kept: the file alone, where what is shown is one. */
function shownOf(store: FileStore | undefined, subPath: string): FileStore | undefined {
  const path = absolute(subPath, '')
  const content = store?.get(path)
  if (store === undefined || content instanceof Map) return store
  const shown = new FileStore()
  if (content === undefined) return shown
  shown.set(path, content)
  shown.describe(path, store.attributesOf(path))
  return shown
}

/** What stands in the one file that the volume is; undefined: it is a folder. */
function fileOfNode({ hostPath }: Volume): string | undefined {
  return hostPath && NODE_FILES[hostPath.path]
}

interface FileKey {
  readonly volumeName: string
  readonly path: string
  readonly key: string
  readonly optional?: boolean | undefined
}

interface DownwardSource {
  readonly items?:
    | undefined
    | readonly {
        readonly path: string
        readonly fieldRef?: { readonly fieldPath: string } | undefined
        readonly resourceFieldRef?: ResourceField | undefined
        readonly mode?: number | undefined
      }[]
}

interface KeySource {
  readonly name?: string
  readonly items?: readonly {
    readonly key: string
    readonly path: string
    readonly mode?: number | undefined
  }[]
}

function binary(data: Readonly<Record<string, string>> | undefined): [string, Uint8Array][] {
  return Object.entries(data ?? {}).map(([key, text]) => [key, Buffer.from(text, 'base64')])
}

export function substituted(value: string, environment: ReadonlyMap<string, string>): string {
  return withValues(value, (name) => environment.get(name))
}

/** A field of the downward API. */
function fieldOf(pod: Pod, path: string, nodeName = pod.spec?.nodeName ?? ''): string {
  const keyed = /^metadata\.(labels|annotations)\['(.*)'\]$/.exec(path)
  if (keyed !== null) return pod.metadata?.[keyed[1] as 'labels' | 'annotations']?.[keyed[2]!] ?? ''
  const values: Readonly<Record<string, () => string | undefined>> = {
    'metadata.name': () => pod.metadata?.name,
    'metadata.namespace': () => pod.metadata?.namespace,
    'metadata.uid': () => pod.metadata?.uid,
    'metadata.labels': () => lines(pod.metadata?.labels),
    'metadata.annotations': () => lines(pod.metadata?.annotations),
    'metadata.creationTimestamp': () => pod.metadata?.creationTimestamp ?? formatTime(0),
    'spec.nodeName': () => nodeName,
    'spec.serviceAccountName': () => pod.spec?.serviceAccountName,
    'status.hostIP': () => pod.status?.hostIP,
    'status.hostIPs': () => pod.status?.hostIPs?.map(({ ip }) => ip).join(','),
    'status.podIP': () => pod.status?.podIP,
    'status.podIPs': () => pod.status?.podIPs?.map(({ ip }) => ip).join(','),
  }
  return values[path]?.() ?? ''
}

/** In the order of the keys, which is not that of the lines: `-` and `.` come before `=`. */
function lines(pairs: Readonly<Record<string, string>> | undefined): string {
  return Object.entries(pairs ?? {})
    .sort(byString(([key]) => key))
    .map(([key, value]) => `${key}=${JSON.stringify(value)}`)
    .join('\n')
}

/** A part of a volume that is to be mounted, and is not there, becomes a folder. */
function makeMissingFolder(store: FileStore, subPath: string): void {
  const path = absolute(subPath, '')
  if (store.get(path) === undefined) store.makeFolder(path)
}
