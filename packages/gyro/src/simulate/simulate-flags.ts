/** The flags of `gyro simulate`. Pure. */
import { FAULT_KINDS } from '@gyropilot/cluster'
import type { FlagDefinition } from '@gyropilot/manager/flags'

export const simulateFlags: readonly FlagDefinition[] = [
  {
    name: 'seed',
    type: 'string',
    default: '',
    help: 'Decides everything that is left to chance: the same seed, the same history. Default: a random one, which is printed.',
  },
  {
    name: 'seeds',
    type: 'int',
    default: '1',
    help: 'How many runs: the seed itself, then the seed with -2, -3, ... behind it.',
  },
  {
    name: 'minutes',
    type: 'int',
    default: '10',
    help: 'Virtual minutes in which the user works and things go wrong. Coming to rest is added to them.',
  },
  {
    name: 'faults',
    type: 'strings',
    default: 'all',
    help: `all, none, or some of ${FAULT_KINDS.join(', ')}.`,
  },
  {
    name: 'intensity',
    type: 'float',
    default: '1',
    help: 'Factor of all fault rates: 1 is a bad day.',
  },
  { name: 'nodes', type: 'int', default: '3', help: 'Simulated nodes.' },
  {
    name: 'cloud',
    type: 'bool',
    default: 'false',
    help: 'There is a cloud, which fails now and then too: load balancers, routes, machines, and a cloud-controller-manager. Scenarios that need one have it.',
  },
  {
    name: 'pod-groups',
    type: 'bool',
    default: 'false',
    help: 'PodGroups are served, share claims for devices with their pods, and may be gangs, of Jobs too: what is behind the alpha gates GangScheduling, WorkloadWithJob and DRAWorkloadResourceClaims.',
  },
  {
    name: 'pause',
    type: 'float',
    default: '5',
    help: 'Mean pause of the user between two operations, in virtual seconds.',
  },
  {
    name: 'managers',
    type: 'int',
    default: '2',
    help: 'Controller managers, of which one leads.',
  },
  {
    name: 'scenario',
    type: 'string',
    default: '',
    help: 'A module whose default export is a scenario, or a part of the name of a built-in one: played in the place of the random user.',
  },
  {
    name: 'explore',
    type: 'bool',
    default: 'false',
    help: 'Small worlds in the place of one long run: each scenario once for every write with a crash there, every event with that event lost, every read with that read stale.',
  },
  {
    name: 'stride',
    type: 'int',
    default: '1',
    help: 'With --explore: every n-th position only.',
  },
  {
    name: 'only',
    type: 'string',
    default: '',
    help: "With --explore: one disturbance and its position, as a failure names them: 'event lost 3'.",
  },
  {
    name: 'shrink',
    type: 'int',
    default: '200',
    help: 'Runs to spend, after one that failed, on finding the few faults and operations that it takes to fail. 0: none.',
  },
  {
    name: 'schedule',
    type: 'string',
    default: '',
    help: 'In the place of random faults and a random user, exactly this: JSON as a failing run prints it, or a file with it.',
  },
  {
    name: 'output',
    type: 'string',
    values: ['text', 'json'],
    default: 'text',
    help: 'text, or json: one object at the end.',
  },
  { name: 'help', shorthand: 'h', type: 'bool', default: 'false', help: 'Help for gyro simulate.' },
]
