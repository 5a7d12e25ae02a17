import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ContainerState, ContainerStatus, Pod } from '@gyropilot/api'
import { hasLetGo } from './let-go.ts'

type Kind = 'initContainerStatuses' | 'containerStatuses' | 'ephemeralContainerStatuses'

function podWith(
  states: readonly ContainerState[],
  kind: Kind = 'containerStatuses',
  isDeleting = true,
): Pod {
  const statuses = states.map((state, index): ContainerStatus => {
    return { name: `c${index}`, image: 'i', imageID: '', ready: false, restartCount: 0, state }
  })
  return {
    metadata: isDeleting ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {},
    status: { phase: 'Running', [kind]: statuses },
  }
}

const RUNNING: ContainerState = { running: {} }
const ENDED: ContainerState = { terminated: { exitCode: 0 } }
const WAITING: ContainerState = { waiting: {} }

const cases: readonly (readonly [string, Pod, boolean])[] = [
  ['that has succeeded', { status: { phase: 'Succeeded' } }, true],
  ['that has failed', { status: { phase: 'Failed' } }, true],
  ['that is not deleted', podWith([ENDED], 'containerStatuses', false), false],
  ['whose containers have ended or wait', podWith([ENDED, WAITING]), true],
  ['that has no containers yet', podWith([]), true],
  ['of whose containers one runs', podWith([ENDED, RUNNING]), false],
  ['whose container says nothing', podWith([{}]), false],
  ['whose init container runs', podWith([RUNNING], 'initContainerStatuses'), false],
  ['whose ephemeral container runs', podWith([RUNNING], 'ephemeralContainerStatuses'), false],
]
for (const [title, pod, isOver] of cases) {
  test(`a pod ${title} ${isOver ? 'has let go' : 'holds on'}`, () => {
    assert.equal(hasLetGo(pod), isOver)
  })
}
