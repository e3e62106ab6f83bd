{#- One text key from several columns, given as "a, b, c"; a null differs from every value. -#}
{% macro surrogate_key(columns) -%}
    md5(concat_ws('|'{% for column in columns.split(', ') %}, coalesce(cast({{ column }} as string), '~'){% endfor %}))
{%- endmacro %}

{#- What was tested, as far as a run shares it with its repetitions: a configuration without its method. -#}
{% macro configuration_columns() -%}
    product, product_version, protocol, backend, backend_version, threading, threads, packet_queue_size, ha_mode, scenario, testbed, tool, tool_version
{%- endmacro %}

{% macro configuration_columns_of(relation) -%}
    {% for column in configuration_columns().split(', ') %}{{ relation }}.{{ column }}{{ ",\n        " if not loop.last }}{% endfor %}
{%- endmacro %}

{#- For a group by the key of a configuration, within which these columns do not vary. -#}
{% macro any_configuration_columns() -%}
    {% for column in configuration_columns().split(', ') %}any_value({{ column }}) as {{ column }}{{ ",\n        " if not loop.last }}{% endfor %}
{%- endmacro %}

{#- The frames of a test of frames/s, without which its figure means nothing: "64 B frames"; null for other tests. -#}
{% macro frames_of(method) -%} nullif(regexp_extract({{ method }}, '; ([^;]+ frames)', 1), '') {%- endmacro %}

{#- A text with `#` for each number and hash. -#}
{% macro with_any_number(text) -%} {{ replaced(text, '[0-9a-f]{7,40}|[0-9]+', '#') }} {%- endmacro %}

{#- What puts versions in order: their first three numbers, then their text. -#}
{% macro version_order(version) -%}
    {% for before in ['', '[0-9]+[.]', '[0-9]+[.][0-9]+[.]'] -%}
        cast(nullif(regexp_extract({{ version }}, '^{{ before }}([0-9]+)', 1), '') as double) nulls first,
    {% endfor -%}
    {{ version }} nulls first
{%- endmacro %}

{#- A folder's name without the date, commit or build of a nightly one, which are time and no part of the set-up. -#}
{% macro undated(folder) -%}
    {%- set day = '(19|20)[0-9]{2}[-_.]?[01][0-9][-_.]?[0-3][0-9]' -%}
    {%- set time = '([T_-][0-2][0-9][-_.:]?[0-5][0-9]([-_.:]?[0-5][0-9])?Z?)?' -%}
    {%- set undated = replaced(folder, '^' ~ day ~ time ~ '/|/?' ~ day ~ time, '') -%}
    {%- set not_a_hash = replaced(undated, 'ed25519', 'Ed25519') -%}
    {{ replaced(not_a_hash, '(^|[-_/. ])(g[0-9a-f]{7,40}|' ~ _hash() ~ '|(build|job|pipeline)[-_#]?[0-9]+)', '') }}
{%- endmacro %}

{#- Seven or more hexadecimal digits, among them a letter and a digit. -#}
{% macro _hash() -%}
    {%- for place in range(1, 7) -%}
        {%- set rest = '[0-9a-f]{' ~ (6 - place) ~ ',33}' -%}
        [0-9]{{ '{' ~ place ~ '}' }}[a-f]{{ rest }}|[a-f]{{ '{' ~ place ~ '}' }}[0-9]{{ rest }}
        {{- '|' if not loop.last }}
    {%- endfor -%}
{%- endmacro %}

{#-
    What distinguishes set-ups over time, whatever the version, in words as known behind `undated`. Nobody mentions the
    partner that a server does not have.
-#}
{% macro set_up_columns() -%}
    {{ return(
        "product, protocol, backend, threading, threads, nullif(ha_mode,'none'), scenario, testbed, tool, method, undated_folder, "
        ~ 'rate_unit'
    ) }}
{%- endmacro %}

{#- Whether a trial is the result of a generator's own search for the rate without loss, so not a step of a ramp. -#}
{% macro is_search(method) -%} coalesce({{ fits(method, "'^([NP]DR|rfc2544_)'") }}, false) {%- endmacro %}

{#- A person's name for a configuration, e.g. "ISC Kea 2.2.0 DHCPv4 memfile multi x4 hot-standby". -#}
{% macro configuration_label() -%}
    coalesce(nullif(concat_ws(
        ' ', product, product_version, protocol, backend,
        case
            when threading = 'multi' and threads is not null then 'multi x' || cast(threads as string)
            else threading
        end,
        case when ha_mode <> 'none' then ha_mode end,
        case when scenario <> 'basic' then scenario end,
        nullif(unnamed_folder, '.'), {{ frames_of('method') }}
    ), ''), '.')
{%- endmacro %}

{#- Numbers of a method that a script may set from the rate: perfdhcp's -R, -f, -F and -D, dnsperf's -q, -l and -n. -#}
{% macro _numbers() -%}
    {{ return({
        'clients': '[0-9]+ clients?', 'outstanding': '[0-9]+ outstanding',
        'renewals': 'renew rate [0-9.]+/s', 'releases': 'release rate [0-9.]+/s',
        'drops': 'at most [0-9/]+ drops', 'duration': '^[0-9.]+ s', 'queries': '[0-9]+ runs? through the file',
    }) }}
{%- endmacro %}

{#- For each number, whether it differs between the rows of a group: are_clients_by_rate, ... -#}
{% macro numbers_by_rate(method) -%}
    {% for word, number in _numbers().items() -%}
        count(distinct regexp_extract({{ method }}, '({{ number }})', 1)) > 1 as are_{{ word }}_by_rate
        {{- ",\n        " if not loop.last }}
    {%- endfor %}
{%- endmacro %}

{#- A method that says of its numbers that they go by the rate: of all, or of those that differ in `groups`. -#}
{% macro with_numbers_by_rate(method, groups=none) -%}
    {%- set numbers = _numbers() -%}
    {{ 'regexp_replace(' * numbers | length }}{{ method }}
    {%- for word, number in numbers.items() %}, {% if groups -%}
        case when {{ groups }}.are_{{ word }}_by_rate then '{{ number }}' else '$^' end
    {%- else -%} '{{ number }}' {%- endif %}, '{{ word }} by rate')
    {%- endfor %}
{%- endmacro %}

{#- The last date, date and time, or seconds since 1970, in a path; as text, in its order. -#}
{% macro time_in(path) -%}
    nullif(regexp_extract({{ path }}, '{{ _time_in_a_path() }}', 1), '')
{%- endmacro %}

{#- The day of such a time; of seconds since 1970, their first eight digits. -#}
{% macro day_of(time_in_a_path) -%}
    {%- set digits = "left(translate(" ~ time_in_a_path ~ ", '-_.', ''), 8)" -%}
    case
        when {{ digits }} like '2%' or {{ digits }} like '19%'
            then concat_ws('-', left({{ digits }}, 4), substr({{ digits }}, 5, 2), substr({{ digits }}, 7, 2))
        else {{ digits }}
    end
{%- endmacro %}

{% macro _time_in_a_path() -%}
    {%- set date = '(?:19|20)[0-9]{2}[-_.]?[01][0-9][-_.]?[0-3][0-9]' -%}
    {%- set time = '[-_. tT]?[0-2][0-9][-_.:h]?[0-5][0-9](?:[-_.:m]?[0-5][0-9])?' -%}
    {{ return('^(?:.*[^0-9])?(' ~ date ~ '(?:' ~ time ~ ')?|1[4-9][0-9]{8}(?:[0-9]{3})?)(?:[^0-9].*)?$') }}
{%- endmacro %}
