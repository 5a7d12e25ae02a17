/**
 * Pods of Deployments in many namespaces, on many nodes, started at different times, with what admission and the kubelet add:
 * in `full` about 6 KB of JSON, as Kubernetes 1.36 shows a pod with probes, resources and variables; else about 3 KB.
 * managedFields are two fifths.
 */
import { SeededRandom } from '@gyropilot/foundation'
import type { RandomSource } from '@gyropilot/foundation'

interface PodSetting {
  readonly deployments: number
  readonly namespaces: number
  readonly nodes: number
  readonly full: boolean
  /** Each pod mounts a service account token by a volume with a name of its own, unless its author said no. Default true. */
  readonly tokenVolumes?: boolean
}

/** The cluster of the figures in docs/decisions/0009-shared-subtrees.md. */
export const LARGE_CLUSTER: PodSetting = {
  deployments: 2_000,
  namespaces: 200,
  nodes: 1_000,
  full: true,
}

const START_MS = Date.UTC(2026, 0, 1)
const WEEK_SECONDS = 7 * 24 * 3600
const SUFFIX_CHARACTERS = 'bcdfghjklmnpqrstvwxz2456789'

interface Deployment {
  readonly namespace: string
  readonly name: string
  readonly replicaSet: string
  readonly replicaSetUid: string
  readonly hash: string
  readonly labels: Readonly<Record<string, string>>
  readonly image: string
  readonly imageId: string
}

function text(random: RandomSource, length: number, characters = SUFFIX_CHARACTERS): string {
  let result = ''
  while (result.length < length) result += characters[Math.floor(random.next() * characters.length)]
  return result
}

function hexadecimal(random: RandomSource, length: number): string {
  return text(random, length, '0123456789abcdef')
}

function uid(random: RandomSource): string {
  const part = (length: number): string => hexadecimal(random, length)
  return `${part(8)}-${part(4)}-4${part(3)}-a${part(3)}-${part(12)}`
}

function deploymentOf(setting: PodSetting, number: number): Deployment {
  const random = new SeededRandom(number + 1)
  const name = `team-${number % 37}-service-${number}`
  const hash = text(random, 9)
  return {
    namespace: `namespace-${number % setting.namespaces}`,
    name,
    replicaSet: `${name}-${hash}`,
    replicaSetUid: uid(random),
    hash,
    labels: {
      'app.kubernetes.io/instance': name,
      'app.kubernetes.io/name': `service-${number % 100}`,
      'app.kubernetes.io/version': `1.${number % 20}.0`,
      'pod-template-hash': hash,
      team: `team-${number % 37}`,
    },
    image: `registry.example.com/team-${number % 37}/service-${number % 100}:v1.${number % 20}.0`,
    imageId: `registry.example.com/team-${number % 37}/service-${number % 100}@sha256:${hexadecimal(random, 64)}`,
  }
}

/** Pod `number` of `setting`: the same text each time; `restarts` makes another state of it. */
export function realisticPod(setting: PodSetting, number: number, restarts = 0): object {
  const deployment = deploymentOf(setting, number % setting.deployments)
  const random = new SeededRandom(1_000_000 + number)
  const node = Math.floor(random.next() * setting.nodes)
  const createdMs = START_MS + Math.floor(random.next() * WEEK_SECONDS) * 1000
  const startedMs = createdMs + (2 + Math.floor(random.next() * 20) + restarts) * 1000
  const time = (ms: number): string => new Date(ms).toISOString().replace('.000Z', 'Z')
  const podIp = `10.${number >> 16}.${(number >> 8) & 255}.${number & 255}`
  const hostIp = `192.168.${node >> 8}.${node & 255}`
  const volume = `kube-api-access-${text(random, 5)}`
  const token = (setting.tokenVolumes ?? true) ? volume : undefined
  const condition = (type: string, ms: number): object => ({
    lastProbeTime: null,
    lastTransitionTime: time(ms),
    ...(setting.full ? { observedGeneration: 1 } : {}),
    status: 'True',
    type,
  })
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: `${deployment.replicaSet}-${text(random, 5)}`,
      generateName: `${deployment.replicaSet}-`,
      namespace: deployment.namespace,
      uid: uid(random),
      resourceVersion: String(10_000_000 + number + restarts * 100_000),
      generation: 1,
      creationTimestamp: time(createdMs),
      labels: deployment.labels,
      annotations: { 'prometheus.io/port': '8080', 'prometheus.io/scrape': 'true' },
      ownerReferences: [
        {
          apiVersion: 'apps/v1',
          kind: 'ReplicaSet',
          name: deployment.replicaSet,
          uid: deployment.replicaSetUid,
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
      managedFields: managedFields(setting, time(createdMs), time(startedMs), deployment, podIp),
    },
    spec: podSpec(setting, deployment, token, `node-${node}.example.internal`),
    status: {
      ...(setting.full ? { observedGeneration: 1 } : {}),
      phase: 'Running',
      conditions: [
        ...(setting.full ? [condition('PodReadyToStartContainers', startedMs)] : []),
        condition('Initialized', createdMs),
        condition('Ready', startedMs),
        condition('ContainersReady', startedMs),
        condition('PodScheduled', createdMs),
      ],
      hostIP: hostIp,
      ...(setting.full ? { hostIPs: [{ ip: hostIp }] } : {}),
      podIP: podIp,
      podIPs: [{ ip: podIp }],
      startTime: time(createdMs),
      containerStatuses: [
        {
          name: 'web',
          state: { running: { startedAt: time(startedMs) } },
          lastState: {},
          ready: true,
          restartCount: restarts,
          image: deployment.image,
          imageID: deployment.imageId,
          containerID: `containerd://${hexadecimal(random, 64)}`,
          started: true,
          ...(setting.full ? statusDetails(token) : {}),
        },
      ],
      qosClass: 'Burstable',
    },
  }
}

function statusDetails(token: string | undefined): object {
  return {
    allocatedResources: { cpu: '100m', memory: '128Mi' },
    resources: {
      limits: { cpu: '500m', memory: '256Mi' },
      requests: { cpu: '100m', memory: '128Mi' },
    },
    ...(token === undefined
      ? {}
      : {
          volumeMounts: [
            {
              name: token,
              mountPath: '/var/run/secrets/kubernetes.io/serviceaccount',
              readOnly: true,
              recursiveReadOnly: 'Disabled',
            },
          ],
        }),
  }
}

function podSpec(
  setting: PodSetting,
  deployment: Deployment,
  token: string | undefined,
  nodeName: string,
): object {
  const toleration = (key: string): object => ({
    key,
    operator: 'Exists',
    effect: 'NoExecute',
    tolerationSeconds: 300,
  })
  const probe = {
    httpGet: { path: '/healthz', port: 8080, scheme: 'HTTP' },
    timeoutSeconds: 1,
    periodSeconds: 10,
    successThreshold: 1,
    failureThreshold: 3,
  }
  const details = {
    env: [
      { name: 'SERVICE', value: deployment.name },
      { name: 'LOG_LEVEL', value: 'info' },
      {
        name: 'POD_NAME',
        valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.name' } },
      },
    ],
    resources: {
      limits: { cpu: '500m', memory: '256Mi' },
      requests: { cpu: '100m', memory: '128Mi' },
    },
  }
  return {
    ...(token === undefined
      ? {}
      : {
          volumes: [
            {
              name: token,
              projected: {
                sources: [
                  { serviceAccountToken: { expirationSeconds: 3607, path: 'token' } },
                  {
                    configMap: {
                      name: 'kube-root-ca.crt',
                      items: [{ key: 'ca.crt', path: 'ca.crt' }],
                    },
                  },
                  {
                    downwardAPI: {
                      items: [
                        {
                          path: 'namespace',
                          fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' },
                        },
                      ],
                    },
                  },
                ],
                defaultMode: 420,
              },
            },
          ],
        }),
    containers: [
      {
        name: 'web',
        image: deployment.image,
        ports: [{ name: 'http', containerPort: 8080, protocol: 'TCP' }],
        ...(setting.full ? details : {}),
        ...(token === undefined
          ? {}
          : {
              volumeMounts: [
                {
                  name: token,
                  readOnly: true,
                  mountPath: '/var/run/secrets/kubernetes.io/serviceaccount',
                },
              ],
            }),
        ...(setting.full ? { livenessProbe: probe, readinessProbe: probe } : {}),
        terminationMessagePath: '/dev/termination-log',
        terminationMessagePolicy: 'File',
        imagePullPolicy: 'IfNotPresent',
      },
    ],
    restartPolicy: 'Always',
    terminationGracePeriodSeconds: 30,
    dnsPolicy: 'ClusterFirst',
    serviceAccountName: 'default',
    serviceAccount: 'default',
    nodeName,
    securityContext: {},
    schedulerName: 'default-scheduler',
    tolerations: [
      toleration('node.kubernetes.io/not-ready'),
      toleration('node.kubernetes.io/unreachable'),
    ],
    priority: 0,
    enableServiceLinks: true,
    preemptionPolicy: 'PreemptLowerPriority',
  }
}

function managedFields(
  { full }: PodSetting,
  created: string,
  started: string,
  { replicaSetUid }: Deployment,
  podIp: string,
): object {
  const nothing = {}
  const condition = {
    '.': nothing,
    'f:lastProbeTime': nothing,
    'f:lastTransitionTime': nothing,
    'f:observedGeneration': nothing,
    'f:status': nothing,
    'f:type': nothing,
  }
  const container = {
    '.': nothing,
    'f:env': nothing,
    'f:image': nothing,
    'f:imagePullPolicy': nothing,
    'f:name': nothing,
    'f:ports': nothing,
    ...(full
      ? {
          'f:livenessProbe': { '.': nothing, 'f:failureThreshold': nothing, 'f:httpGet': nothing },
          'f:readinessProbe': { '.': nothing, 'f:failureThreshold': nothing, 'f:httpGet': nothing },
          'f:resources': { '.': nothing, 'f:limits': nothing, 'f:requests': nothing },
        }
      : {}),
    'f:terminationMessagePath': nothing,
    'f:terminationMessagePolicy': nothing,
  }
  return [
    {
      manager: 'kube-controller-manager',
      operation: 'Update',
      apiVersion: 'v1',
      time: created,
      fieldsType: 'FieldsV1',
      fieldsV1: {
        'f:metadata': {
          'f:generateName': nothing,
          'f:labels': { '.': nothing, 'f:pod-template-hash': nothing, 'f:team': nothing },
          'f:ownerReferences': { '.': nothing, [`k:{"uid":"${replicaSetUid}"}`]: nothing },
        },
        'f:spec': {
          'f:containers': { 'k:{"name":"web"}': container },
          'f:dnsPolicy': nothing,
          'f:enableServiceLinks': nothing,
          'f:restartPolicy': nothing,
          'f:schedulerName': nothing,
          'f:securityContext': nothing,
          'f:terminationGracePeriodSeconds': nothing,
        },
      },
    },
    {
      manager: 'kubelet',
      operation: 'Update',
      apiVersion: 'v1',
      time: started,
      fieldsType: 'FieldsV1',
      fieldsV1: {
        'f:status': {
          'f:conditions': {
            ...(full ? { 'k:{"type":"ContainersReady"}': condition } : {}),
            'k:{"type":"Initialized"}': condition,
            'k:{"type":"Ready"}': condition,
          },
          'f:containerStatuses': nothing,
          'f:phase': nothing,
          'f:podIPs': { '.': nothing, [`k:{"ip":"${podIp}"}`]: { '.': nothing, 'f:ip': nothing } },
          'f:startTime': nothing,
        },
      },
      subresource: 'status',
    },
  ]
}
