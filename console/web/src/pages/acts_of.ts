// The acts of each kind of thing, with the line of the command that does the same.
import type { Act } from '../core/acts'
import { path } from '../core/api'
import { commandLine, counted } from '../core/format'
import type {
  Aggregation, Plan, ProblemRow, Queue, Run, Schedule, Task, Tick, Token,
} from '../core/types'

function keyWords(run: { process: string; key: string }): string[] {
  return run.key && run.key !== '-' ? [run.process, '--key', run.key] : [run.process]
}

export function runActs(run: Run, unknown: string[]): Act[] {
  const at = (verb: string) => path(['runs', run.process, run.key, verb])
  const acts: Act[] = []
  if (run.holder) {
    acts.push({
      label: 'Release',
      says: 'Takes the run from its holder. Every later write of that attempt is refused, and the '
        + 'next start resumes the run.',
      final: 'What the program does outside the database until it hears of it, it does.',
      path: at('release'),
      body: { epoch: String(run.epoch) },
      command: commandLine('runs', 'release', ...keyWords(run)),
      reason: 'needed',
    })
  } else if (run.ended === null || ['failed', 'interrupted'].includes(run.state)) {
    acts.push({
      label: 'Restart',
      says: 'Gives up what the unfinished run has done. The next start begins afresh.',
      final: 'Its finished steps will be done again.',
      path: at('restart'),
      body: { epoch: String(run.epoch) },
      command: commandLine('runs', 'restart', ...keyWords(run)),
      reason: 'asked',
      typed: run.process,
    })
  }
  for (const step of unknown) acts.push(resolveStep(run, step, at('resolve')))
  return acts
}

function resolveStep(run: Run, step: string, where: string): Act {
  return {
    label: `Resolve ${step}`,
    says: `Says how the step ${step} went. With the last one the run may be resumed.`,
    final: 'A step that counts as done is never done again.',
    path: where,
    body: { step },
    choice: {
      name: 'outcome',
      label: `Did ${step} happen?`,
      options: [['done', 'It happened'], ['not-done', 'It did not happen']],
    },
    command: (chosen) =>
      commandLine('runs', 'resolve', ...keyWords(run), '--step', step, `--${chosen.outcome}`),
    reason: 'needed',
  }
}

export function pauseAct(kind: 'queues' | 'schedules' | 'plans', name: string, on: boolean): Act {
  const verb = on ? 'resume' : 'pause'
  const says = {
    queues: 'No task starts until the queue is resumed. What is in hand goes on.',
    schedules: 'No tick is launched until the schedule is resumed. What runs goes on.',
    plans: 'No pass begins until the plan is resumed.',
  }[kind]
  return {
    label: on ? 'Resume' : 'Pause',
    says: on ? 'Work begins again, with what is due first.' : says,
    path: path([kind, name, verb]),
    command: commandLine(kind, verb, name),
    reason: 'asked',
  }
}

export function scheduleActs(one: Schedule): Act[] {
  return [
    {
      label: 'Trigger',
      says: 'Asks for a tick now. The next daemon that looks launches it, also of a paused schedule.',
      path: path(['schedules', one.name, 'trigger']),
      command: commandLine('schedules', 'trigger', one.name),
      reason: 'asked',
    },
    pauseAct('schedules', one.name, one.state === 'paused'),
  ]
}

export function retryTick(schedule: string, tick: Tick): Act {
  return {
    label: 'Retry',
    says: `The tick of ${tick.tick} is due again, in its own window, with nothing counted.`,
    path: path(['schedules', schedule, 'ticks', tick.tick, 'retry']),
    command: commandLine('schedules', 'retry', schedule, tick.tick),
    reason: 'asked',
  }
}

const waitsForPerson = ['dead', 'failed', 'unknown', 'discarded']

export function taskActs(queue: string, task: Task): Act[] {
  const at = (verb: string) => path(['queues', queue, 'tasks', task.key, verb])
  const line = (verb: string, ...more: string[]) =>
    commandLine('tasks', verb, queue, task.key, ...more)
  if (task.state === 'unknown') {
    return [{
      label: 'Resolve',
      says: 'Says how the task went. It counts as done, or it is tried again.',
      path: at('resolve'),
      choice: {
        name: 'outcome',
        label: 'Was it done?',
        options: [['done', 'It was done'], ['not-done', 'It was not done']],
      },
      command: (chosen) => line('resolve', `--${chosen.outcome}`),
      reason: 'needed',
    }]
  }
  const acts: Act[] = []
  if (waitsForPerson.includes(task.state)) {
    acts.push({
      label: 'Retry',
      says: 'The task is due now, with nothing counted. The next claim of a worker takes it.',
      path: at('retry'),
      command: line('retry'),
      reason: 'asked',
    })
  } else {
    acts.push({
      label: 'Run now',
      says: 'The task is due now, before all others of its priority.',
      path: at('run-now'),
      command: line('run-now'),
      reason: 'asked',
    })
  }
  acts.push({
    label: 'Discard',
    says: 'The task is not done at this turn; in a queue without a period not at all.',
    final: 'A discarded task waits for a person, who may retry it.',
    path: at('discard'),
    command: line('discard', '--yes'),
    reason: 'needed',
  })
  return acts
}

/** Acts on all tasks in a state; the dialog says how many. */
export function bulkActs(queue: Queue, state: string, many: number): Act[] {
  if (many === 0) return []
  const act = (verb: string, label: string, says: string, final?: string): Act => ({
    label: `${label} all ${state}`,
    says: `${says} That is asked of ${counted(many, `${state} task`)} in queue ${queue.name}.`,
    final,
    path: path(['queues', queue.name, 'acts']),
    body: { act: verb, state, most: many },
    command: commandLine('tasks', verb, queue.name, '--state', state, '--all', '--yes'),
    reason: 'needed',
    typed: many > 100 ? queue.name : undefined,
    preview: path(['queues', queue.name, 'tasks'], { state, limit: 5 }),
  })
  if (state !== 'dead' && state !== 'failed') return []
  return [
    act('retry', 'Retry', 'The tasks are due now, with nothing counted.'),
    act('discard', 'Discard', 'The tasks are given up at this turn.', 'They wait for a person.'),
  ]
}

export function planActs(plan: Plan): Act[] {
  const acts: Act[] = [
    {
      label: 'Run',
      says: 'Makes a pass now, beside the passes of daemons.',
      path: path(['plans', plan.name, 'run']),
      command: commandLine('plans', 'run', plan.name),
      reason: 'none',
    },
    pauseAct('plans', plan.name, plan.paused),
  ]
  if (plan.kind === 'sweep') {
    acts.push({
      label: 'Sweep',
      says: 'Begins the next sweep of the table. Passes cut its pages.',
      path: path(['plans', plan.name, 'sweep']),
      command: commandLine('plans', 'sweep', plan.name),
      reason: 'asked',
    })
  }
  return acts
}

export function reopenPeriod(plan: string, period: string): Act {
  return {
    label: 'Reopen',
    says: `The period ${period} is launched once more.`,
    path: path(['plans', plan, 'reopen']),
    body: { period },
    command: commandLine('plans', 'reopen', plan, period),
    reason: 'asked',
  }
}

export function aggregationActs(one: Aggregation): Act[] {
  return [
    {
      label: 'Verify',
      says: 'Compares every parent with its rows in one snapshot, beside everything else.',
      path: path(['aggregations', one.name, 'verify']),
      command: commandLine('aggregates', 'verify', one.name),
      reason: 'none',
    },
  ]
}

export function parentAct(name: string, parent: string, verb: 'close' | 'settle' | 'revert'): Act {
  const texts = {
    close: { label: 'Close', says: 'No more rows are added to it.', final: undefined },
    settle: {
      label: 'Settle',
      says: 'The parent and its rows are settled together, once its sums are what its rows say.',
      final: 'It stays settled.',
    },
    revert: {
      label: 'Revert',
      says: 'The parent becomes void. Its rows are free, and the next pass takes them.',
      final: 'The parent stays void.',
    },
  }[verb]
  return {
    ...texts,
    path: path(['aggregations', name, verb]),
    body: { parent },
    command: commandLine('aggregates', verb, name, parent, ...(verb === 'close' ? [] : ['--yes'])),
    role: verb === 'close' ? 'operate' : 'admin',
    reason: verb === 'revert' ? 'needed' : 'asked',
    typed: verb === 'close' ? undefined : parent,
  }
}

/** Says no more of a problem for a while. */
export function muteAct(problem: ProblemRow, now: number): Act {
  const until = (hours: number) => new Date(now + hours * 3600e3).toISOString()
  return {
    label: 'Mute',
    says: `Nobody is told of it for a while: ${problem.subject} ${problem.why}`,
    path: path(['problems', problem.print!, 'mute']),
    choice: {
      name: 'until',
      label: 'For how long?',
      options: [[until(1), '1 hour'], [until(4), '4 hours'], [until(24), '1 day'],
        [until(168), '7 days']],
    },
    command: '',
    reason: 'needed',
  }
}

export function revokeAct(token: Token): Act {
  const kind = token.kind === 'session' ? 'session' : 'token'
  return {
    label: 'Revoke',
    says: `The ${kind} ${token.name || token.id} is refused from now on.`,
    final: 'It cannot be made valid again.',
    path: path([kind + 's', token.id]),
    method: 'DELETE',
    command: kind === 'token' ? commandLine('tokens', 'revoke', token.id) : '',
    role: 'admin',
    reason: 'asked',
  }
}
