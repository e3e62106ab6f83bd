{#- A point in time as a plain time of UTC, which every client can fetch without a database of time zones. -#}
{% macro utc_time(instant) -%}
    {{ adapter.dispatch('utc_time', 'dropline')(instant) }}
{%- endmacro %}

{% macro duckdb__utc_time(instant) -%}
    {{ instant }} at time zone 'UTC'
{%- endmacro %}

{% macro spark__utc_time(instant) -%}
    {{ instant }}
{%- endmacro %}

{#- A time so many seconds later. -#}
{% macro later(instant, seconds) -%}
    {{ adapter.dispatch('later', 'dropline')(instant, seconds) }}
{%- endmacro %}

{% macro duckdb__later(instant, seconds) -%}
    {{ instant }} + to_microseconds(cast(round(1000000 * ({{ seconds }})) as bigint))
{%- endmacro %}

{% macro spark__later(instant, seconds) -%}
    timestampadd(microsecond, cast(round(1000000 * ({{ seconds }})) as bigint), {{ instant }})
{%- endmacro %}

{#- When a trial ended: as it says, else as long after its start as it lasted. -#}
{% macro end_of_trial() -%} coalesce(ended_at, {{ later('started_at', 'duration_s') }}) {%- endmacro %}

{#- The seconds between two times. -#}
{% macro seconds_between(start, finish) -%}
    {{ adapter.dispatch('seconds_between', 'dropline')(start, finish) }}
{%- endmacro %}

{% macro duckdb__seconds_between(start, finish) -%}
    (epoch_us({{ finish }}) - epoch_us({{ start }})) / 1000000.0
{%- endmacro %}

{% macro spark__seconds_between(start, finish) -%}
    (unix_micros({{ finish }}) - unix_micros({{ start }})) / 1000000
{%- endmacro %}

{#- The time that C's asctime() printed, such as `Fri Nov 20 11:46:46 2026`; null for any other text. -#}
{% macro asctime(text) -%}
    {{ adapter.dispatch('asctime', 'dropline')("replace(" ~ text ~ ", '  ', ' ')") }}
{%- endmacro %}

{% macro duckdb__asctime(text) -%} try_strptime({{ text }}, '%a %b %d %H:%M:%S %Y') at time zone 'UTC' {%- endmacro %}

{% macro spark__asctime(text) -%} try_to_timestamp(substr({{ text }}, 5), 'MMM d HH:mm:ss yyyy') {%- endmacro %}
