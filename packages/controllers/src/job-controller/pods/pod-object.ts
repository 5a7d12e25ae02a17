/**
 * The pod that a Job asks for.
 * Contract: docs/behaviour/controllers/job-controller.md, Pod management 9.
 */
import { resources } from '@gyropilot/api'
import type { Container, Job, Pod } from '@gyropilot/api'
import { podFromTemplate } from '../../workload-support/pod-control.ts'
import {
  COMPLETION_INDEX,
  COMPLETION_INDEX_ENV,
  INDEX_FAILURE_COUNT,
  INDEX_IGNORED_FAILURE_COUNT,
} from '../events.ts'
import { TRACKING_FINALIZER } from '../../workload-support/job-tracking.ts'
import type { IndexFailures } from './pod-index.ts'

/** What the server takes of a generateName before it adds its own five letters. */
const MAX_GENERATE_NAME_LENGTH = 58

/** A pod of a Job without indexes, and what the pods of an indexed one have in common. `podGroupName`: the gang it is scheduled with. */
export function podForJob(job: Job, podGroupName?: string): Pod {
  const template = job.spec?.template ?? {}
  const pod = podFromTemplate(template, job, resources.jobs)
  const finalizers = (template.metadata?.finalizers ?? []).filter(
    (name) => name !== TRACKING_FINALIZER,
  )
  const metadata = { ...pod.metadata, finalizers: [...finalizers, TRACKING_FINALIZER] }
  if (podGroupName === undefined) return { ...pod, metadata }
  return { ...pod, metadata, spec: { ...pod.spec!, schedulingGroup: { podGroupName } } }
}

/** `failures`: those of the index so far, with a back-off limit per index. */
export function podForIndex(base: Pod, job: Job, index: number, failures?: IndexFailures): Pod {
  const name = job.metadata?.name ?? ''
  const { metadata, spec } = base
  return {
    ...base,
    metadata: {
      ...metadata,
      generateName: indexedPrefix(name, index),
      labels: { ...metadata?.labels, [COMPLETION_INDEX]: `${index}` },
      annotations: {
        ...metadata?.annotations,
        [COMPLETION_INDEX]: `${index}`,
        ...(failures === undefined ? {} : failureAnnotations(failures)),
      },
    },
    spec: {
      ...spec,
      hostname: `${name}-${index}`,
      ...(spec?.initContainers === undefined
        ? {}
        : { initContainers: spec.initContainers.map(withIndexVariable) }),
      containers: (spec?.containers ?? []).map(withIndexVariable),
    },
  }
}

function failureAnnotations({ counted, ignored }: IndexFailures): Record<string, string> {
  return {
    [INDEX_FAILURE_COUNT]: `${counted}`,
    ...(ignored > 0 ? { [INDEX_IGNORED_FAILURE_COUNT]: `${ignored}` } : {}),
  }
}

function indexedPrefix(jobName: string, index: number): string {
  const suffix = `-${index}-`
  return jobName.slice(0, MAX_GENERATE_NAME_LENGTH - suffix.length) + suffix
}

function withIndexVariable(container: Container): Container {
  if (container.env?.some(({ name }) => name === COMPLETION_INDEX_ENV)) return container
  const fieldPath = `metadata.labels['${COMPLETION_INDEX}']`
  const variable = { name: COMPLETION_INDEX_ENV, valueFrom: { fieldRef: { fieldPath } } }
  return { ...container, env: [...(container.env ?? []), variable] }
}
